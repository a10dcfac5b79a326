/** Cases 5: the answer that is no report. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { REPORT, scene } from './scene.js';
import { act, always, call as toolCall, say } from '../support/script.js';

const begun = (s) => s.checkpoint().step('c1').RW();

test('S1: a budget spent on reasoning is asked again, then rejected with reason and numbers', async (t) => {
  const cut = {
    reasoning: 'hm '.repeat(400),
    finish: 'max-tokens',
    usage: { input: 9, output: 1024, reasoning: 1024 },
  };
  const s = await scene(t, { report: [cut, cut, cut] });
  const error = await begun(s).refuse('SUMMARY_FAILED', { planned: false });
  assert.equal(s.requests.length, 3);
  assert.match(error.message, /3 attempts/);
  assert.match(error.message, /max-tokens/);
  assert.match(error.message, /1024 output tokens, 1024 of them reasoning/);
  assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), true);
});

test('S1, beside: each retry after a cut doubles the budget, up to four times the configured', async (t) => {
  const cut = { text: 'It was looked into, and', finish: 'max-tokens' };
  const s = await scene(t, {
    report: [cut, cut, cut, say(REPORT)],
    config: { maxTokens: 500, maxSummarizationRetries: 3 },
  });
  await begun(s).fold();
  assert.deepEqual(
    s.requests.map(({ options }) => options.maxTokens),
    [500, 1000, 2000, 2000],
  );
  assert.match(
    s.texts.find((text) => text.includes(REPORT)),
    /^((?!looked into, and).)*$/s,
  );
});

test('S1, beside: thinking is switched off where the route offers it', async (t) => {
  const efforts = (ids) => ({ reasoning: { efforts: ids.map((id) => ({ id, name: id })) } });
  for (const [ids, wanted] of [
    [['low', 'off'], 'off'],
    [['low', 'high'], undefined],
  ]) {
    const s = await scene(t, { model: efforts(ids) });
    await begun(s).fold();
    assert.equal(s.requests[0].options.reasoningEffort, wanted);
  }
});

test("S2: white space is no report, and the span's own last words never stand in for one", async (t) => {
  const s = await scene(t, { report: [say('  \n\t'), say('\u2003\ufeff'), say('')] });
  begun(s).R('rw').A({ t: 'ok, that was it' }).idle();
  const error = await s.refuse('SUMMARY_FAILED', { planned: false });
  assert.equal(s.requests.length, 3);
  assert.match(error.message, /no visible text/);
  assert.doesNotMatch(s.surface, /REPORT/);
});

test('S2, beside: white space once, then a report', async (t) => {
  const s = await scene(t, { report: [say(' \n '), say(REPORT)] });
  await begun(s).fold();
  assert.equal(s.requests.length, 2);
});

test('S5: a preamble with a tool call is no report, by its finish and by its content', async (t) => {
  for (const finish of [undefined, 'stop']) {
    const call = act(toolCall('x1', 'grep', { pattern: 'a' }), {
      text: 'Let me check one more file.',
      ...(finish ? { finish } : {}),
    });
    const s = await scene(t, { report: [call, say(REPORT)] });
    await begun(s).fold();
    assert.equal(s.requests.length, 2);
    assert.ok(!s.texts.some((text) => text.includes('one more file')));
  }
});

test('S5, beside: tool-call markup printed as text is no report', async (t) => {
  for (const markup of [
    '<｜DSML｜function_calls><｜DSML｜invoke name="read">',
    '{"name":"read","arguments":{"path":"a"}}',
    '```json\n{"name":"read","arguments":"{}"}\n```',
  ]) {
    const s = await scene(t, { report: [say(markup), say(REPORT)] });
    await begun(s).fold();
    assert.equal(s.requests.length, 2, markup);
  }
});

test('S6: one line over and over is no report, although it is shorter than the span', async (t) => {
  const s = await scene(t, { report: [say('The parser reads the file.\n'.repeat(1100)), say(REPORT)] });
  s.checkpoint().step('c1', 'a long log line of the build\n'.repeat(2100)).RW();
  await s.fold();
  assert.equal(s.requests.length, 2);
  assert.equal(s.requests[0].options.maxTokens, 1024);
});

test('S9: a probe that throws fails nothing, and no effort is invented', async (t) => {
  // The registry asks the adapter again when it streams, so the first question alone fails.
  let asked = 0;
  const s = await scene(t, {
    model: () => {
      asked += 1;
      if (asked === 1) throw new Error('capability endpoint is down');
      return {};
    },
  });
  await begun(s).fold();
  assert.equal('reasoningEffort' in s.requests[0].options, false);
});

test("S10: a request beyond any window is rejected with the provider's words, and may be retried", async (t) => {
  const words = 'maximum context length is 131072 tokens';
  const s = await scene(t, {
    report: [{ status: 400, error: words, code: 'CONTEXT_OVERFLOW' }, say(REPORT)],
  });
  s.checkpoint().step('c1', 'four hundred thousand characters \n'.repeat(12_000)).RW();
  const error = await s.refuse('SUMMARY_FAILED', { planned: false });
  assert.ok(error.message.includes(words));
  assert.ok(error.message.includes('CONTEXT_OVERFLOW'));
  assert.equal(s.requests.length, 1);
  await s.fold();
});

test('S10, beside: a broken connection and a reply that is no protocol are asked once', async (t) => {
  for (const step of [{ text: 'half a rep', die: true }, { garbage: 'xx' }, { status: 500 }]) {
    const s = await scene(t, { report: always(step) });
    await begun(s).refuse('SUMMARY_FAILED', { planned: false });
    assert.equal(s.requests.length, 1);
  }
});

test('T3: the instruction asks for what is done, in the language of the report', async (t) => {
  const en = await scene(t);
  await begun(en).fold();
  const instruction = (s) => s.requests[0].options.messages.at(-1).content[0].text;
  assert.match(instruction(en), /done|established|Done/i);
  const zh = await scene(t, { config: { reportLanguage: 'zh' } });
  await begun(zh).fold();
  assert.match(instruction(zh), /\p{Script=Han}/u);
});
