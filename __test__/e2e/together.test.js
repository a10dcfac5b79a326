/**
 * Fold, pruner and turn memory in one profile of the real CLI, the invariant companions mounted: a turn with a
 * cut, a receipt and a fold is summarized by the next process, the next turn by the one after, and a session
 * compaction takes the old checkpoints.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditOf } from '../audit/run.js';
import { OURS } from '../support/cli.js';
import { textOf } from '../support/wire.js';
import { toWrite } from '../turn-memory/stage.js';
import { FILES, PARTS, PRUNE, assertHeard, assertReplays, coverOf, cutsIn, receiptsIn } from './editing.js';
import { COMPANIONS, REGISTRY } from './invariants.js';
import { REPORT, act, assertSound, call, prepareCli, reportsIn, say } from './scenario.js';

const PROMPTS = ['Find out why the service stops.', 'And now look once more.', 'Tell me what stood there.'];
const STEER = 'By the way: leave the port alone, whatever you find.';

const wordsOf = ({ messages }) => messages.map(({ content }) => (
  Array.isArray(content) ? textOf(content) : content ?? ''));
const MATCH = {
  summary: (request) => wordsOf(request).at(-1).startsWith('[turn memory] The process of turn'),
  compact: ({ headers }) => headers?.['x-deepseek-harness-compact'] === '1',
};
const account = (request) => say(toWrite(wordsOf(request).at(-1))
  .map((id) => `<working:${id}>\nPart ${id} went as planned.\n</working:${id}>`).join('\n'));

const checkpointsIn = ({ surface }) => surface.filter(({ data }) => data.source?.plugin === 'turn-memory');

test('three processes: every turn is cut, compacted, folded and summarized, and all of it comes back', async (t) => {
  const held = {};
  /** Goes on once the summary that this process began with is in. */
  const after = (count, step) => async () => {
    await held.cli.provider.waitFor(() => held.cli.provider.of('summary').length === count);
    await sleep(600);
    return step;
  };
  const ask = (id, name, args) => act(call(id, name, args));
  const recall = (id, words) => () => ask(id, 'recall', { seq: coverOf(held.log, words).seq, pattern: 'needle' });
  const turn = (from) => ['cut', 'receipt', 'mark', 'look', 'fold'].flatMap((part, at) => PARTS[part](from + at));
  const cli = await prepareCli(t, {
    runner: true,
    packages: [OURS, REGISTRY],
    files: FILES,
    match: MATCH,
    rows: [{ insert: [
      ...COMPANIONS,
      { id: 'tool-rewind-prune', name: '@dpskh/tool-rewind/prune', config: PRUNE },
      { id: 'tool-rewind-turn-memory', name: '@dpskh/tool-rewind/turn-memory', config: { debug: true } },
    ] }],
    steps: {
      main: [
        ...turn(0), say('It stops by itself.'),
        ask('wait1', 'glob', { pattern: '*.txt' }), after(1, ask('wait2', 'glob', { pattern: '*.log' })),
        ...turn(10), say('As before.'),
        ask('wait3', 'glob', { pattern: '*' }), after(2, ask('wait4', 'glob', { pattern: '*.md' })),
        recall('back-cut', 'needle-log-4471'), recall('back-receipt', 'needle-plain-8830'),
        recall('back-fold', 'needle-alpha-7141'),
        ask('raw', 'expand_turn', { turn: 1, mode: 'raw' }), say('That stood there.'),
      ],
      report: [say(REPORT), say(REPORT)],
      summary: [account, account],
      compact: [say('The service stops by itself, and that was looked at twice.')],
    },
  });
  held.cli = cli;
  const drive = async (script) => {
    const { code, stderr, outcome } = await cli.drive(script);
    assert.equal(code, 0, stderr);
    assert.deepEqual(outcome.outcomes[0].reason, { kind: 'completed' });
    assert.match(outcome.outcomes[1].text, /, 0 errors\.$/m);
    assert.doesNotMatch(outcome.outcomes[1].text, /Warning/);
    [held.log] = cli.logs();
    assert.equal(held.log.fault, undefined);
    return outcome;
  };
  const status = { command: '/prune status' };
  const { session } = await drive({
    moves: [{ prompt: PROMPTS[0], at: [{ type: 'tool/result', count: 2, steer: STEER }] }, status],
  });
  assertReplays(cli, held.log);
  assert.deepEqual([cutsIn(held.log).length, receiptsIn(held.log).length, reportsIn(held.log).length], [1, 1, 1]);
  assert.deepEqual(checkpointsIn(held.log), [], 'a process that ends after its turn starts nothing');

  await drive({ resume: session, moves: [{ prompt: PROMPTS[1] }, status] });
  assertReplays(cli, held.log);
  assertHeard(held.log, PROMPTS.slice(0, 2));
  const [first] = checkpointsIn(held.log);
  assert.equal(first.data.source.turn, 1);
  assert.match(textOf(first.data.content), new RegExp(`^<user-steer:\\d+>\\n${STEER}\\n</user-steer:\\d+>$`, 'm'));
  assert.match(textOf(first.data.content), /^<assistant:\d+>\nIt stops by itself\.\n<\/assistant:\d+>$/m);

  const last = await drive({ resume: session, moves: [{ prompt: PROMPTS[2] }, status, { command: '/compact' }] });
  assert.equal(last.outcomes[2].kind, 'success', last.outcomes[2].text);
  const { log } = held;
  const said = (id) => textOf(log.events.findLast(({ type, data }) => (
    type === 'tool/result' && data.message.source.callId === id)).data.message.content[0].content);
  assert.match(said('back-cut'), /needle-log-4471/);
  assert.match(said('back-receipt'), /needle-plain-8830/);
  assert.match(said('back-fold'), /needle-alpha-7141/);
  assert.match(said('raw'), /^### User\nFind out why the service stops\.\n/);
  assert.match(said('raw'), /needle-log-4471[^]*needle-alpha-7141/);
  const summaries = log.events.filter(({ data }) => data.source?.plugin === 'turn-memory');
  assert.deepEqual(summaries.map(({ data }) => data.source.turn), [1, 2]);
  assert.equal(log.surface[0].data.source.plugin, 'compact', 'the compaction took the oldest');
  assert.ok(!log.surface.includes(log.events[first.seq]));
  assertSound(cli);
  const { audits: [audit] } = auditOf(log.path);
  assert.deepEqual(audit.findings, []);
});
