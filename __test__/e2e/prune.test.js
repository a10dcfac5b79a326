/**
 * Both layers of pruning and a fold in one session of the real CLI, in every order and inside one another,
 * with the invariant companions mounted; then the session taken up again, and everything recalled.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { auditOf } from '../audit/run.js';
import { OURS } from '../support/cli.js';
import { textOf, toWire } from '../support/wire.js';
import { COMPANIONS, REGISTRY } from './invariants.js';
import { REPORT, act, assertSound, call, carries, fold, look, mark, prepareCli, reportsIn, say } from './scenario.js';

const lines = (words, count) => Array.from({ length: count }, (_, at) => `${words}, line ${at}\n`).join('');

/** Read twice; the first result is stale, and a word of trouble in it keeps its step from becoming a receipt. */
const LOG = `${lines('the service starts', 60)}error: needle-log-4471\n${lines('the service stops', 60)}`;
/** Searched twice; results of a search are never cut, so the first becomes a receipt. */
const PLAIN = `${lines('a plain finding', 120)}a plain finding, needle-plain-8830\n`;

/** Only what a later identical call supersedes is stale, and the newest node alone is protected. */
const PRUNE = {
  judge: 'rules', softLimit: '1', compactSoftLimit: '1', keepMode: 'absolute', compactMode: 'absolute',
  keepThreshold: 0.1, keepFloorThreshold: 0.1, compactThreshold: 0.1, preserveRecent: 1, neverPruneTools: ['grep'],
};

const STEER = 'By the way: leave the port alone, whatever you find.';
const PROMPTS = ['Find out why the service stops.', 'And now tell me what stood there.'];

/** What the model does for each word of a story; `at` keeps call ids apart. */
const PARTS = {
  cut: (at) => [act(look(`log${at}a`, 'service.log')), act(look(`log${at}b`, 'service.log'))],
  receipt: (at) => ['a', 'b'].map((turn) => act(call(`plain${at}${turn}`, 'grep', { pattern: 'plain', path: 'plain.txt' }))),
  mark: (at) => [act(mark(`mark${at}`))],
  look: (at) => [act(look(`look${at}a`)), act(look(`look${at}b`, 'b.txt'))],
  fold: (at) => [act(fold(`fold${at}`))],
};

const STORIES = [
  ['cut', 'receipt', 'mark', 'look', 'fold'],
  ['receipt', 'cut', 'mark', 'look', 'fold'],
  ['cut', 'mark', 'look', 'fold', 'receipt'],
  ['receipt', 'mark', 'look', 'fold', 'cut'],
  ['mark', 'look', 'fold', 'cut', 'receipt'],
  ['mark', 'look', 'fold', 'receipt', 'cut'],
  // The fold takes a cut result and a receipt.
  ['mark', 'cut', 'receipt', 'look', 'fold'],
  ['receipt', 'mark', 'cut', 'look', 'fold', 'mark', 'look', 'fold'],
];

const edits = ({ events }) => events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace');
const cutsIn = (log) => edits(log).filter(({ type }) => type === 'tool/result');
const receiptsIn = (log) => edits(log).filter(({ data }) => data.source?.plugin === 'rewind-prune');

/** What stands on the surface for the event that first held some words: a report, or a pointer to it. */
function coverOf(log, words) {
  const { seq } = log.events.find(({ type, data }) => type === 'tool/result' && JSON.stringify(data).includes(words));
  return log.surface.find(({ sourceEventSeqs = [] }) => sourceEventSeqs.includes(seq));
}

/** A message by what a model reads of it, whichever transport laid it out. */
const seen = ({ role, content, tool_calls: calls = [], tool_call_id: id }) => [
  role, Array.isArray(content) ? textOf(content) : content ?? '', calls.map((one) => one.id), id,
];

/** The surface that a log replays to is what the model was last sent, and its answer. */
function assertReplays(cli, log) {
  const last = cli.provider.of('main').at(-1);
  const sent = last.messages.filter(({ role }) => role !== 'system').map(seen);
  const replayed = toWire({ messages: log.session.deriveMessages() }).map(seen);
  assert.deepEqual(replayed.slice(0, -1), sent);
  assert.equal(replayed.at(-1)[0], 'assistant');
}

/** A person's words stand on the surface as they were sent, or in the quotes of a report. */
function assertHeard({ surface }, words) {
  const own = surface.filter(({ data }) => data.source?.kind === 'user').map(({ data }) => textOf(data.content));
  const quoted = surface.flatMap(({ data }) => data.source?.quotes ?? []);
  for (const said of words) assert.ok(own.includes(said) || quoted.includes(said), `lost: ${said}`);
}

for (const story of STORIES) {
  test(`one session: ${story.join(', ')}`, async (t) => {
    const held = {};
    /** Asks for one seq, which only the log of the first process can tell. */
    const recall = (id, of) => () => act(call(id, 'recall', { seq: of(held.log).seq, pattern: 'needle' }));
    const cli = await prepareCli(t, {
      runner: true,
      packages: [OURS, REGISTRY],
      files: { 'service.log': LOG, 'plain.txt': PLAIN, 'a.txt': lines('a needle-alpha-7141', 80), 'b.txt': lines('b', 200) },
      rows: [{ insert: [...COMPANIONS, { id: 'tool-rewind-prune', name: '@dpskh/tool-rewind/prune', config: PRUNE }] }],
      steps: {
        main: [
          ...story.flatMap((part, at) => PARTS[part](at)), say('It stops by itself.'),
          recall('back-cut', (log) => cutsIn(log)[0]), recall('back-receipt', (log) => receiptsIn(log)[0]),
          recall('back-fold', (log) => coverOf(log, 'needle-alpha-7141')), say('That stood there.'),
        ],
        report: story.filter((part) => part === 'fold').map(() => say(REPORT)),
      },
    });
    const drive = async (script) => {
      const { code, stderr, outcome } = await cli.drive(script);
      assert.equal(code, 0, stderr);
      const status = outcome.outcomes.at(-1).text;
      assert.match(status, /, 0 errors\.$/m);
      assert.doesNotMatch(status, /Warning/);
      return outcome.session;
    };
    const status = { command: '/prune status' };
    const at = [{ type: 'tool/result', count: 2, steer: STEER }];
    const session = await drive({ moves: [{ prompt: PROMPTS[0], at }, status] });
    [held.log] = cli.logs();
    assertReplays(cli, held.log);
    assertHeard(held.log, [PROMPTS[0], STEER]);
    assert.deepEqual([cutsIn(held.log).length, receiptsIn(held.log).length], [1, 1]);
    assert.equal(reportsIn(held.log).length, story.filter((part) => part === 'fold').length);

    await drive({ resume: session, moves: [{ prompt: PROMPTS[1] }, status] });
    const [log, ...others] = cli.logs();
    assert.deepEqual(others, []);
    assertReplays(cli, log);
    assertHeard(log, [...PROMPTS, STEER]);
    const said = (id) => textOf(log.events.findLast(({ type, data }) => (
      type === 'tool/result' && data.message.source.callId === id)).data.message.content[0].content);
    assert.match(said('back-cut'), /needle-log-4471/);
    assert.match(said('back-receipt'), /needle-plain-8830/);
    assert.match(said('back-fold'), /needle-alpha-7141/);
    assert.ok(!carries(cli.provider.of('main').find(({ messages }) => carries({ messages }, PROMPTS[1])), 'needle-alpha'));
    assertSound(cli);
    const { audits: [audit] } = auditOf(log.path);
    assert.deepEqual(audit.findings, []);
  });
}
