/** The judge `llm`: its protocol over the session's own model. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { say } from '../support/script.js';
import { assertValid, page, reads, resultsOn, stage } from './stage.js';

const MARKER = /characters cut by prune/;
const LAYER_1 = {
  compactReceipts: false,
  keepMode: 'budget',
  minCandidatesForBudget: 1,
  preserveRecent: 1,
  judgeRetryBaseMs: 10,
};
const JUDGE_LANE = {
  judge: ({ messages }) => String(messages.at(-1).content).includes('Answer with one line a statement'),
};

/** Two long reads under pressure with the `llm` judge, whose answers are scripted. */
async function withLlm(answers, { config = {}, model = {}, steps, ...more } = {}) {
  const loop = await stage({
    model: { context: { contextWindow: 3_000 }, ...model },
    pages: { a: page('a', 9_000), b: page('b', 3_000) },
    match: JUDGE_LANE,
    config: { judge: 'llm', ...LAYER_1, ...config },
    ...more,
    steps: steps ?? [reads('a'), reads('b')],
    lanes: { judge: answers },
  });
  const agent = await loop.agent();
  const { text } = await agent.prompt('What is in a?');
  assert.equal(text, 'done');
  const status = (await agent.command('/prune status')).result.text;
  const cut = MARKER.test(resultsOn(agent)[0].text);
  assertValid(loop, agent);
  const asked = loop.adapter.of('judge');
  await loop.dispose();
  return { asked, cut, status };
}

/** Answers every statement of a request with one number. */
const all =
  (value) =>
  ({ messages }) => {
    const ids = [...String(messages.at(-1).content).matchAll(/^((?:result|effect)_s\d+):/gm)].map(
      ([, id]) => id,
    );
    return say(ids.map((id) => `${id}=${value}`).join('\n'));
  };

test("llm asks the session's own route for numbers, without tools, and goes by them", async () => {
  const { asked, cut } = await withLlm([all(5)], {
    model: {
      reasoning: {
        efforts: [
          { id: 'off', name: 'Off' },
          { id: 'high', name: 'High' },
        ],
      },
    },
  });
  assert.equal(cut, true);
  const [{ options }] = asked;
  assert.deepEqual(
    [options.provider, options.model, options.temperature, options.reasoningEffort, options.tools],
    ['scripted', 'scripted-1', 0, 'off', undefined],
  );
  assert.equal(options.maxTokens, 64 + 12);
  assert.ok(!JSON.stringify(options.messages).includes('{{'));
  assert.equal((await withLlm([all(90)])).cut, false);
});

test('llm takes the configured route, and no effort where none is offered', async () => {
  const { asked } = await withLlm([all(5)], { config: { judgeProvider: 'scripted', judgeModel: 'small' } });
  assert.deepEqual([asked[0].options.model, 'reasoningEffort' in asked[0].options], ['small', false]);
});

test('input 31: llm reads fenced JSON, prose around it and partial answers', async () => {
  const id = ({ messages }) => /^(result_s\d+):/m.exec(messages.at(-1).content)[1];
  for (const text of [
    (request) => `\`\`\`json\n{"${id(request)}": 5}\n\`\`\``,
    (request) => `Sure:\n{"${id(request)}": 5, "unknown_s1": 90}\nBye.`,
    (request) => `{"${id(request)}": 5, "effect_`,
    (request) => `${id(request)}=5\n${id(request)}=95`,
  ]) {
    assert.equal((await withLlm([(request) => say(text(request))])).cut, true);
  }
});

test('an answer without one valid entry is asked for once more, with what was wrong', async () => {
  const id = ({ messages }) => /^(result_s\d+):/m.exec(messages.at(-1).content)[1];
  const { asked, cut } = await withLlm([(request) => say(`${id(request)}=1.7`), all(5)]);
  assert.equal(asked.length, 2);
  assert.match(
    String(asked[1].messages.at(-1).content),
    /could not be used\.\n- result_s\d+ must be a whole number from 0 to 100, but it was 1\.7/,
  );
  assert.equal(cut, true);
  const failed = await withLlm([say('no idea'), say('none')]);
  assert.equal(failed.asked.length, 2);
  assert.equal(failed.cut, false);
  assert.match(failed.status, /Warning: the judge llm failed: the model gave no valid answer/);
});

test('a failing model call is retried and never reaches the step', async () => {
  const { asked, cut } = await withLlm([{ status: 500 }, all(5)]);
  assert.equal(asked.length, 2);
  assert.equal(cut, true);
  const failed = await withLlm([{ status: 500 }, { status: 500 }, { status: 500 }]);
  assert.equal(failed.asked.length, 3);
  assert.equal(failed.cut, false);
});

test('a configured provider that is not mounted leaves results unjudged, and the status names it', async () => {
  const { asked, cut, status } = await withLlm([], { config: { judgeProvider: 'nope', judgeModel: 'small' } });
  assert.deepEqual([asked.length, cut], [0, false]);
  const reason = 'judgeProvider is "nope", and no provider of that name is mounted (mounted: scripted)';
  assert.ok(status.includes(`Warning: the judge "llm" is not ready (${reason}): results stay unjudged`), status);
});
