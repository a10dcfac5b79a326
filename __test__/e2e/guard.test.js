/** The turn guard in the real CLI: one warning where an exploration is still in the context, and no trap. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  NEEDLES, REPORT, act, carries, fold, look, mark, outline, reportsIn, resultOf, runTask, say,
} from './scenario.js';

test('the guard warns, the model folds, and the warning folds with the rest', async (t) => {
  const { log, stdout, provider } = await runTask(t, {
    main: [act(mark()), act(look('c1')), say('It is 7141.'), act(fold()), say('As I said: 7141.')],
    report: [say(REPORT)],
  });
  assert.equal(stdout, 'As I said: 7141.\n');
  const warned = provider.of('main')[3].messages.at(-1);
  assert.equal(warned.role, 'user');
  assert.match(warned.content, /mark 1 \(objective: find the port\).*call `rewind` now/);
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'report 1', 'model w1', 'result w1',
    'model "As I said: 7141."',
  ]);
  assert.equal(reportsIn(log)[0].data.source.foldedNodes, 4, 'call, result, first answer, warning');
});

test('a guard that is ignored warns once and lets the turn end', async (t) => {
  const { log, stdout, provider } = await runTask(t, {
    main: [act(mark()), act(look('c1')), say('It is 7141.'), say('I will not fold.')],
  });
  assert.equal(stdout, 'I will not fold.\n');
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'model c1', 'result c1', 'model "It is 7141."', 'guard',
    'model "I will not fold."',
  ]);
  assert.equal(log.events.filter(({ type }) => type === 'turn/end').length, 1);
  assert.deepEqual(provider.of('report'), []);
});

test('a refused fold silences the guard for the turn', async (t) => {
  const { log, provider } = await runTask(t, {
    main: [act(mark()), act(fold()), say('nothing to fold')],
  });
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'model w1', 'result w1!', 'model "nothing to fold"',
  ]);
  assert.match(resultOf(log, 'w1'), /Nothing to fold/);
  assert.equal(provider.of('main').length, 3);
});

test('a session without a mark is never warned', async (t) => {
  const { log } = await runTask(t, { main: [act(look('c1')), say('It is 7141.')] });
  assert.deepEqual(outline(log), ['person: find the port', 'model c1', 'result c1', 'model "It is 7141."']);
});

test('custom tool names reach the tools, the prompt and the warning', async (t) => {
  const rows = [
    { id: 'tool-rewind', config: { toolName: 'fold_up', checkpointToolName: 'set_mark' } },
    { id: 'tool-rewind-checkpoint', config: { toolName: 'set_mark', rewindToolName: 'fold_up' } },
  ];
  const { log, provider } = await runTask(t, {
    rows,
    main: [
      act({ ...mark(), name: 'set_mark' }), act(look('c1')), say('7141'), act({ ...fold(), name: 'fold_up' }),
      say('done'),
    ],
    report: [say(REPORT)],
  });
  const [first] = provider.of('main');
  const names = first.tools.map((tool) => tool.function.name);
  assert.ok(names.includes('fold_up') && names.includes('set_mark'));
  assert.ok(!names.includes('rewind') && !names.includes('checkpoint'));
  assert.match(first.messages[0].content, /call `set_mark` with the objective.*call `fold_up`/s);
  assert.match(provider.of('main')[3].messages.at(-1).content, /call `fold_up` now/);
  assert.equal(reportsIn(log).length, 1);
  assert.ok(!carries(provider.of('main').at(-1), NEEDLES['a.txt']));
});
