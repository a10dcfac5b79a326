/**
 * A person and a fold in the real CLI: steering, several turns, a stored session taken up again, the command.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  NEEDLES, REPORT, act, assertSound, carries, fold, look, mark, outline, prepareCli, reportsIn, resultOf, say,
} from './scenario.js';

const ALPHA = NEEDLES['a.txt'];

async function drive(cli, script) {
  const { code, stderr, outcome } = await cli.drive(script);
  assert.equal(code, 0, stderr);
  return outcome;
}

const reasons = ({ outcomes }) => outcomes.map(({ reason }) => reason?.kind);

test('steering in the middle of an exploration stays, word for word and in its place', async (t) => {
  const cli = await prepareCli(t, {
    runner: true,
    steps: {
      main: [act(mark()), act(look('c1')), act(look('c2', 'b.txt')), act(fold()), say('done')],
      report: [say(REPORT)],
    },
  });
  const steer = 'Never touch port 7777 — “prod”.';
  await drive(cli, { moves: [{ prompt: 'find the port', at: [{ type: 'tool/result', count: 2, steer }] }] });
  const [log] = cli.logs();
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'pointer 1', `person: ${steer}`, 'report 1', 'model w1',
    'result w1', 'model "done"',
  ]);
  const after = cli.provider.of('main').at(-1);
  assert.ok(carries(after, steer) && !carries(after, ALPHA) && !carries(after, NEEDLES['b.txt']));
  assert.equal(reportsIn(log)[0].data.source.foldedNodes, 4);
  assertSound(cli);
});

test('an exploration over two turns folds around the second prompt', async (t) => {
  const cli = await prepareCli(t, {
    runner: true,
    steps: {
      main: [
        act(mark()), act(look('c1')), say('so far'), say('later'),
        act(look('c2', 'b.txt')), act(fold()), say('done'),
      ],
      report: [say(REPORT)],
    },
  });
  const outcome = await drive(cli, { moves: [{ prompt: 'find the port' }, { prompt: 'and the host' }] });
  assert.deepEqual(reasons(outcome), ['completed', 'completed']);
  const [log] = cli.logs();
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'pointer 1', 'person: and the host', 'report 1',
    'model w1',
    'result w1', 'model "done"',
  ]);
  assertSound(cli);
});

test('a stored session is taken up between mark and rewind', async (t) => {
  const cli = await prepareCli(t, {
    runner: true,
    steps: {
      main: [act(mark()), act(look('c1')), say('so far'), say('later'), act(fold()), say('done')],
      report: [say(REPORT)],
    },
  });
  const { session } = await drive(cli, { moves: [{ prompt: 'find the port' }] });
  await drive(cli, { resume: session, moves: [{ prompt: 'go on' }] });
  const [log, ...others] = cli.logs();
  assert.deepEqual(others, []);
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'report 1', 'person: go on', 'model w1', 'result w1',
    'model "done"',
  ]);
  assert.match(resultOf(log, 'm1'), /^\[checkpoint mark 1\]/);
  assertSound(cli);
});

test('a session whose process died in the exploration is taken up and folded', async (t) => {
  const cli = await prepareCli(t, {
    runner: true,
    steps: {
      main: [act(mark()), act(look('c1')), act(look('c2', 'b.txt')), act(fold()), say('done')],
      report: [say(REPORT)],
    },
  });
  const died = await cli.drive({ moves: [
    { prompt: 'find the port', at: [{ type: 'tool/call', count: 3, exit: true }] },
  ] });
  assert.equal(died.code, 9);
  const [{ id }] = cli.logs();
  await drive(cli, { resume: id, moves: [{ prompt: 'go on' }] });
  const [log] = cli.logs();
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'report 1', 'person: go on', 'model w1', 'result w1',
    'model "done"',
  ]);
  assertSound(cli);
});

test('a folded session stays folded when it is taken up', async (t) => {
  const cli = await prepareCli(t, {
    runner: true,
    steps: {
      main: [act(mark()), act(look('c1')), act(fold('w1')), say('done'), act(fold('w2')), say('again')],
      report: [say(REPORT)],
    },
  });
  const { session } = await drive(cli, { moves: [{ prompt: 'find the port' }] });
  await drive(cli, { resume: session, moves: [{ prompt: 'fold once more' }] });
  const [log] = cli.logs();
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'report 1', 'model w1', 'result w1', 'model "done"',
    'person: fold once more', 'model w2', 'result w2!', 'model "again"',
  ]);
  assert.match(resultOf(log, 'w2'), /Mark 1 is folded already/);
  const resumed = cli.provider.of('main')[4];
  assert.ok(carries(resumed, 'The port is 7141') && !carries(resumed, ALPHA));
  assertSound(cli);
});

test('a person folds with the command, between turns, the last answer too', async (t) => {
  const cli = await prepareCli(t, {
    runner: true,
    steps: {
      main: [act(mark()), act(look('c1')), say('so far'), say('It is 7141.'), say('done')],
      report: [say(REPORT)],
    },
  });
  const outcome = await drive(cli, { moves: [
    { prompt: 'find the port' }, { command: '/rewind fold' }, { prompt: 'thanks' },
  ] });
  assert.equal(outcome.outcomes[1].kind, 'success');
  assert.match(outcome.outcomes[1].text, /^Folded 5 nodes of mark 1/);
  const [log] = cli.logs();
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'report 1', 'person: thanks', 'model "done"',
  ]);
  assert.ok(!carries(cli.provider.of('main').at(-1), ALPHA));
  assertSound(cli);
});
