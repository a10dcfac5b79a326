/** The hook in front of the pruner: set once, taken away, and never torn from under somebody else. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createLoop } from '../support/loop.js';
import { say } from '../support/script.js';
import { readTool } from '../support/tools.js';
import { page, prune, reads, stage } from './stage.js';

const replacements = (agent) => agent.session.events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace');

test('disposal takes the hook away and the stock method is back', async () => {
  const loop = await stage({ config: { enabled: false } });
  const fiber = await loop.mount(prune, prune.Config({ judge: 'rules' }));
  await loop.agent();
  const pruner = loop.ctx.get('toolResultPruner');
  assert.ok(Object.hasOwn(pruner, 'pruneSession'));
  await fiber.dispose();
  assert.ok(!Object.hasOwn(pruner, 'pruneSession'));
  assert.equal(loop.ctx.get('contextJudge'), undefined);
  await loop.dispose();
});

test('an agent that was there before the plugin is hooked as well', async () => {
  const loop = await stage({ config: { enabled: false } });
  await loop.agent();
  await loop.mount(prune, prune.Config({ judge: 'rules' }));
  assert.ok(Object.hasOwn(loop.ctx.get('toolResultPruner'), 'pruneSession'));
  await loop.dispose();
});

test('a hook that somebody put over ours is not torn away', async () => {
  const loop = await stage({ config: { enabled: false } });
  const fiber = await loop.mount(prune, prune.Config({ judge: 'rules' }));
  await loop.agent();
  const pruner = loop.ctx.get('toolResultPruner');
  const theirs = () => ({ pruned: [], charsRemoved: 0 });
  pruner.pruneSession = theirs;
  await fiber.dispose();
  assert.equal(Object.getOwnPropertyDescriptor(pruner, 'pruneSession').value, theirs);
  await loop.dispose();
});

test('without a pruner the plugin boots and leaves results alone', async () => {
  const loop = await createLoop({
    model: { context: { contextWindow: 2_000 } },
    tools: [readTool({ '*': page('x', 6_000) })],
    plugins: [[prune, prune.Config({ judge: 'rules', compactReceipts: false })]],
    steps: { main: [reads('a'), reads('a'), say('done')] },
  });
  const agent = await loop.agent();
  const { text } = await agent.prompt('read');
  assert.equal(text, 'done');
  assert.deepEqual(replacements(agent), []);
  await loop.dispose();
});
