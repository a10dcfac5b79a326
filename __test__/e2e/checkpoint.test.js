/** Who serves the marks in the real CLI: nobody, or a provider that is not ours, in either load order. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { OURS } from '../support/cli.js';
import {
  NEEDLES, REPORT, act, carries, fold, look, mark, outline, resultOf, runTask, say,
} from './scenario.js';

const FOREIGN = join(dirname(fileURLToPath(import.meta.url)), '..', 'support', 'foreign-checkpoint');

test('without a checkpoint provider the tool answers which row to add', async (t) => {
  const { log, provider } = await runTask(t, {
    rows: [{ id: 'tool-rewind-checkpoint', disabled: true }],
    main: [act(look('c1')), act(fold()), say('done')],
  });
  assert.deepEqual(outline(log), [
    'person: find the port', 'model c1', 'result c1', 'model w1', 'result w1!', 'model "done"',
  ]);
  const answer = resultOf(log, 'w1');
  assert.match(answer, /row \{ id: tool-rewind-checkpoint, name: '@dpskh\/tool-rewind\/checkpoint' \}/);
  assert.match(answer, /cordis\.patch\.yml/);
  assert.equal(log.events.find(({ data }) => data?.error)?.data.error.code, 'NO_CHECKPOINT');
  const names = provider.of('main')[0].tools.map((tool) => tool.function.name);
  assert.ok(names.includes('rewind') && !names.includes('checkpoint'));
});

for (const [order, packages] of [['after', [OURS, FOREIGN]], ['before', [FOREIGN, OURS]]]) {
  test(`a foreign checkpoint provider mounted ${order} ours serves the marks`, async (t) => {
    const { log, provider } = await runTask(t, {
      packages,
      // Ending without a fold brings the guard, which must wait for the provider's late answers; after the
      // fold it is silent only if the provider was told of it.
      main: [act(mark()), act(look('c1')), say('7141'), act(fold()), say('done')],
      report: [say(REPORT)],
    });
    const tools = provider.of('main')[0].tools.filter((tool) => tool.function.name === 'checkpoint');
    assert.deepEqual(tools.map((tool) => tool.function.description), ['The foreign checkpoint.']);
    assert.equal(resultOf(log, 'm1'), 'foreign mark 1');
    assert.deepEqual(outline(log), [
      'person: find the port', 'model m1', 'result m1', 'report 1', 'model w1', 'result w1', 'model "done"',
    ]);
    assert.ok(carries(provider.of('report')[0], NEEDLES['a.txt']));
    assert.ok(!carries(provider.of('main').at(-1), NEEDLES['a.txt']));
  });
}
