/** What the model answers, and what becomes of it (docs/rewind.md 2.4). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { call, say } from '../support/script.js';
import { REPORT, sceneOf } from './scene.js';

async function explored(t, report, config = {}) {
  const scene = await sceneOf(t, { report, config });
  scene.person('find the port');
  scene.mark();
  scene.look('c1');
  scene.rewind();
  return scene;
}

const budgets = (scene) => scene.asked.map(({ maxTokens }) => maxTokens);
const spent = (input, output, reasoning) => ({ usage: { input, output, reasoning } });

test('a usable answer is asked for once, trimmed, and landed word for word', async (t) => {
  const scene = await explored(t, [say(`\n  ${REPORT}\n\n- b: \u{1F52C} 文字\n\n`)]);
  await scene.fold();
  assert.equal(scene.asked.length, 1);
  assert.ok(scene.words(scene.report().seq).includes(`${REPORT}\n\n- b: \u{1F52C} 文字`));
});

test('S1, S2, S5: what is no report is asked for again, and never landed', async (t) => {
  const answers = {
    'nothing': say(''),
    'white space': say('  \n\t'),
    'thoughts alone': say('', { reasoning: 'let me think' }),
    'a tool call': say('Let me check one more file.', { calls: [call('x', 'read', {})] }),
    'a tool call that ends as a stop': say('One more.', { calls: [call('x', 'read', {})], finish: 'stop' }),
    'markup': say('<｜DSML｜function_calls>\n<｜DSML｜invoke name="read">'),
    'a bare call': say('{"name": "read", "arguments": {"path": "a"}}'),
    'a loop': say('The port is 7777.\n'.repeat(400)),
  };
  for (const [name, answer] of Object.entries(answers)) {
    const scene = await explored(t, [answer, say(REPORT)]);
    assert.equal((await scene.fold()).foldedNodes, 2, name);
    assert.equal(scene.asked.length, 2, name);
    const text = scene.words(scene.report().seq);
    assert.ok(text.includes(REPORT) && !text.includes('one more file') && !text.includes('DSML'), name);
    assert.deepEqual(scene.asked[1].options.messages, scene.asked[0].options.messages, name);
  }
});

test('retries are as many as configured; exhausted, the refusal names finish reason and tokens', async (t) => {
  for (const maxSummarizationRetries of [0, 1, 2]) {
    const attempts = maxSummarizationRetries + 1;
    const scene = await explored(t, Array.from({ length: 5 }, () => say('', spent(900, 64, 60))), { maxSummarizationRetries });
    const { code, message, detail } = await scene.refused();
    assert.deepEqual([code, scene.asked.length], ['SUMMARY_FAILED', attempts]);
    assert.match(message, /\bstop\b/);
    assert.match(message, /\b64 output tokens/);
    assert.match(message, /\b60\b.*reasoning/);
    assert.match(message, attempts === 1 ? /1 attempt\b/ : new RegExp(`${attempts} attempts`));
    assert.deepEqual(budgets(scene), Array.from({ length: attempts }, () => 1024));
    assert.deepEqual(detail.usage, { inputTokens: 900 * attempts, outputTokens: 64 * attempts, reasoningTokens: 60 * attempts });
  }
});

test('a cut answer is never landed; each retry doubles the budget, up to four times', async (t) => {
  const cut = say('## Findings\nhalf a rep', { finish: 'max-tokens', ...spent(900, 1024, 1000) });
  const saved = await explored(t, [cut, cut, say(REPORT)]);
  await saved.fold();
  assert.deepEqual(budgets(saved), [1024, 2048, 4096]);
  assert.ok(!saved.words(saved.report().seq).includes('half a rep'));

  const lost = await explored(t, Array.from({ length: 6 }, () => cut), { maxTokens: 300, maxSummarizationRetries: 4 });
  const { code, message } = await lost.refused();
  assert.equal(code, 'SUMMARY_FAILED');
  assert.deepEqual(budgets(lost), [300, 600, 1200, 1200, 1200]);
  assert.match(message, /max-tokens/);
  assert.match(message, /1024 output tokens/);
});

test('a retry for another reason keeps the budget that the cut had earned', async (t) => {
  const scene = await explored(t, [say('', { finish: 'max-tokens' }), say(' '), say(REPORT)]);
  await scene.fold();
  assert.deepEqual(budgets(scene), [1024, 2048, 2048]);
});

test('a failed call is not repeated, and the provider\'s own message and code are kept', async (t) => {
  const failures = [
    [{ status: 500, error: 'the disk of the provider is full' }, /the disk of the provider is full/, /SERVER/],
    [{ status: 400, error: 'this model has a maximum context length of 128000', code: 'CONTEXT' }, /maximum context length/, /CONTEXT/],
    [say('half a report', { die: true }), /break of the connection/, /TRANSPORT/],
    [{ garbage: '<html>' }, /garbage/, /MALFORMED_RESPONSE/],
  ];
  for (const [step, words, providerCode] of failures) {
    const scene = await explored(t, [step, say(REPORT)]);
    const { code, message } = await scene.refused();
    assert.equal(code, 'SUMMARY_FAILED');
    assert.match(message, words);
    assert.match(message, providerCode);
    assert.equal(scene.asked.length, 1);
    // S10: the next fold may do better.
    assert.equal((await scene.fold()).foldedNodes, 2);
  }
});

test('an `aborted` finish of the provider is a failure like an error', async (t) => {
  const scene = await explored(t, []);
  scene.ctx.llm.stream = async function* stream() {
    yield { type: 'block-start', index: 0, blockType: 'text' };
    yield { type: 'text-delta', index: 0, text: 'half a report' };
    yield { type: 'finish', reason: { kind: 'aborted', failure: { message: 'the gateway gave up', code: 'GATEWAY' } } };
  };
  const { code, message } = await scene.refused();
  assert.equal(code, 'SUMMARY_FAILED');
  assert.match(message, /aborted.*the gateway gave up.*GATEWAY/);
});

test('what the report cost is the sum of its attempts', async (t) => {
  const scene = await explored(t, [
    say('', { usage: { input: 100, output: 10, reasoning: 9 } }),
    say(REPORT, { usage: { input: 120, output: 20, cached: 100 } }),
  ]);
  const { usage } = await scene.fold();
  assert.deepEqual(usage, { inputTokens: 220, outputTokens: 30, reasoningTokens: 9, cacheReadTokens: 100 });
  assert.deepEqual(scene.report().data.source.usage, usage);
});
