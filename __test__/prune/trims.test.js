/** Layer 1 on the real loop: what is cut at `toolResultPruner.pruneSession`, when, and what stays. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { say } from '../support/script.js';
import { assertPriced, assertValid, page, reads, resultsOn, stage } from './stage.js';

const MARKER = /\[… \d+ characters cut by prune; whole text at s(\d+) …\]/;

test('under pressure a superseded result is cut before the step, and the rest stays whole', async () => {
  const again = page('alpha', 12_000);
  const loop = await stage({
    config: { judge: 'rules', compactReceipts: false, minCandidatesForBudget: 1 },
    window: 10_000,
    pages: { a: again, b: page('beta', 12_000), c: page('gamma', 2_000) },
    steps: [reads('a'), reads('b'), reads('a'), reads('c'), reads('c')],
  });
  const agent = await loop.agent();
  await agent.prompt('read them');
  const [first, second, third] = resultsOn(agent);
  assert.equal(first.rewritten, true);
  const [, seq] = MARKER.exec(first.text);
  assert.equal(agent.session.events[seq].data.message.content[0].content[0].text, again);
  assert.ok(first.text.startsWith(again.slice(0, 600)) && first.text.endsWith(again.slice(-200)));
  assert.equal(second.rewritten, false);
  assert.equal(third.text, again);
  assertValid(loop, agent);
  assertPriced(agent);
  await loop.dispose();
});

test('without pressure nothing is touched', async () => {
  const loop = await stage({
    config: { judge: 'rules' }, window: 1_000_000,
    pages: { a: page('alpha', 12_000) }, steps: [reads('a'), reads('a'), reads('a')],
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.deepEqual(agent.session.events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace'), []);
  await loop.dispose();
});

test('a session without a word of pressure still answers', async () => {
  const loop = await stage({ steps: [say('hello')] });
  const agent = await loop.agent();
  const { text } = await agent.prompt('hi');
  assert.equal(text, 'hello');
  await loop.dispose();
});
