/**
 * Both layers of pruning and a fold in one session of the real CLI, in every order and inside one another,
 * with the invariant companions mounted; then the session taken up again, and everything recalled.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { auditOf } from '../audit/run.js';
import { OURS } from '../support/cli.js';
import { textOf } from '../support/wire.js';
import { FILES, PARTS, PRUNE, assertHeard, assertReplays, coverOf, cutsIn, receiptsIn } from './editing.js';
import { COMPANIONS, REGISTRY } from './invariants.js';
import { REPORT, act, assertSound, call, carries, prepareCli, reportsIn, say } from './scenario.js';

const STEER = 'By the way: leave the port alone, whatever you find.';
const PROMPTS = ['Find out why the service stops.', 'And now tell me what stood there.'];

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

for (const story of STORIES) {
  test(`one session: ${story.join(', ')}`, async (t) => {
    const held = {};
    /** Asks for one seq, which only the log of the first process can tell. */
    const recall = (id, of) => () => act(call(id, 'recall', { seq: of(held.log).seq, pattern: 'needle' }));
    const cli = await prepareCli(t, {
      runner: true,
      packages: [OURS, REGISTRY],
      files: FILES,
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
    const resumed = cli.provider.of('main').find((request) => carries(request, PROMPTS[1]));
    assert.ok(!carries(resumed, 'needle-alpha'), 'the fold holds over the restart');
    assertSound(cli);
    const { audits: [audit] } = auditOf(log.path);
    assert.deepEqual(audit.findings, []);
  });
}
