/** Judges that other plugins register, the goal they judge by, and what a judge may do wrong. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { stateOf } from '../../plugin/prune/state.js';
import { fromPerson } from '../support/loop.js';
import { say } from '../support/script.js';
import { assertValid, judgePlugin, page, prune, reads, receiptsOn, resultsOn, stage } from './stage.js';

const MARKER = /characters cut by prune/;
const LAYER_1 = {
  compactReceipts: false,
  keepMode: 'budget',
  minCandidatesForBudget: 1,
  preserveRecent: 1,
  judgeRetryBaseMs: 10,
};
/** A loop with a registered judge. */
async function withJudge(answer, { judge: more = {}, config = {}, ...options } = {}) {
  const judge = judgePlugin(answer, more);
  const loop = await stage({
    window: 3_000,
    pages: { a: page('a', 9_000), b: page('b', 3_000) },
    steps: [reads('a'), reads('b')],
    config: { judge: 'fixed', ...LAYER_1, ...config },
    after: [[judge]],
    ...options,
  });
  const agent = await loop.agent();
  return { loop, agent, judge, cut: () => MARKER.test(resultsOn(agent)[0].text) };
}

test('a judge that is not registered leaves results unjudged, with one warning', async () => {
  const loop = await stage({
    window: 3_000,
    steps: [reads('a'), reads('b'), reads('c')],
    config: { judge: 'nobody', ...LAYER_1 },
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  const { text } = (await agent.command('/prune status')).result;
  assert.equal(text.split('Warning: no judge "nobody" is registered').length, 2);
  await loop.dispose();
});

test('a judge goes with the plugin that registered it, and its id is free again', async () => {
  const loop = await stage({});
  const first = await loop.mount(judgePlugin(() => 0));
  assert.equal(loop.ctx.contextJudge.judge('fixed').id, 'fixed');
  await assert.rejects(loop.mount(judgePlugin(() => 0)), /the id "fixed" is taken/);
  await first.dispose();
  assert.equal(loop.ctx.contextJudge.judge('fixed'), undefined);
  await loop.mount(judgePlugin(() => 0));
  await loop.dispose();
});

test('a judge that lacks something is refused by what it lacks', async () => {
  const loop = await stage({});
  const good = {
    id: 'j',
    scale: 'ordinal',
    limits: { maxInputTokens: 1, maxQuestions: 1 },
    ready() {},
    ask() {},
  };
  for (const [change, message] of [
    [{ id: ' ' }, /it has no id/],
    [{ id: 'rules' }, /the id "rules" is reserved/],
    [{ id: 'Rules' }, /the id "Rules" is reserved/],
    [{ id: ' mine' }, /the id " mine" has space around it/],
    [{ scale: 'cardinal' }, /its scale is neither/],
    [{ limits: { maxInputTokens: NaN, maxQuestions: 1 } }, /limits\.maxInputTokens/],
    [{ limits: undefined }, /limits\.maxInputTokens/],
    [{ ask: undefined }, /no method ask/],
  ]) {
    assert.throws(
      () => loop.ctx.contextJudge.registerJudge({ ...good, ...change }),
      (error) => {
        assert.equal(error.code, 'BAD_JUDGE');
        assert.match(error.message, message);
        return true;
      },
    );
  }
  await loop.dispose();
});

test('an ordinal judge with absolute is refused at its first pass, with a warning', async () => {
  const { loop, agent, judge } = await withJudge(() => 0, {
    judge: { scale: 'ordinal' },
    config: { keepMode: 'absolute' },
  });
  await agent.prompt('read');
  assert.deepEqual(judge.asked, []);
  assert.match(
    (await agent.command('/prune status')).result.text,
    /keepMode is absolute, but the judge "fixed" only ranks/,
  );
  await loop.dispose();
});

for (const [name, more] of [
  [
    'throws',
    {
      ask: () => {
        throw new Error('broken');
      },
    },
  ],
  [
    'rejects with nothing',
    {
      ask: async () => {
        throw undefined;
      },
    },
  ],
  ['answers no map', { ask: async () => ({ answers: { a: 1 } }) }],
  ['answers nothing', { ask: async () => undefined }],
  [
    'answers what is no number',
    { ask: async ({ questions }) => ({ answers: new Map(questions.map(({ id }) => [id, { p: '0' }])) }) },
  ],
  ['is never ready', { ready: async () => ({ ok: false, reason: 'resting' }) }],
  [
    'throws when asked whether it is ready',
    {
      ready: () => {
        throw new Error('no');
      },
    },
  ],
]) {
  test(`a judge that ${name} leaves the step alone`, async () => {
    const { loop, agent, cut } = await withJudge(() => 0, { judge: more });
    assert.equal((await agent.prompt('read')).text, 'done');
    assert.equal(cut(), false);
    await loop.dispose();
  });
}

test('a judge that heeds no signal is not waited for', async () => {
  for (const more of [{ ask: () => new Promise(() => {}) }, { ready: () => new Promise(() => {}) }]) {
    const { loop, agent, cut } = await withJudge(() => 0, { judge: more, config: { judgeDeadlineMs: 200 } });
    const since = Date.now();
    assert.equal((await agent.prompt('read')).text, 'done');
    assert.ok(Date.now() - since < 10_000);
    assert.equal(cut(), false);
    await loop.dispose();
  }
});

test('answers that came before the deadline count, late ones do not', async () => {
  const { loop, agent } = await withJudge(({ path }) => (path === 'a' ? 0 : new Promise(() => {})), {
    judge: { limits: { maxInputTokens: 100_000, maxQuestions: 1 } },
    config: { judgeDeadlineMs: 400, keepMode: 'absolute' },
    pages: { a: page('a', 9_000), b: page('b', 9_000) },
    steps: [reads('a'), reads('b'), reads('c')],
    window: 5_000,
  });
  await agent.prompt('read');
  assert.deepEqual(
    resultsOn(agent).map(({ text }) => MARKER.test(text)),
    [true, false, false],
  );
  await loop.dispose();
});

test('case K7: results are counted once, whatever the number of requests', async () => {
  const { loop, agent, judge } = await withJudge(() => 0.9, {
    judge: { limits: { maxInputTokens: 100_000, maxQuestions: 1 } },
    config: { compactReceipts: true, compactOn: 'off' },
    window: 9_000,
    pages: { a: page('a', 9_000), b: page('b', 9_000), c: page('c', 9_000) },
    steps: [reads('a', 'b', 'c')],
  });
  await agent.prompt('read');
  assert.equal(judge.asked.length, 6);
  assert.equal(stateOf(agent.session).counters.judged, 3);
  await loop.dispose();
});

test('input 30: a goal that changes while the judge thinks drops needs and keeps effects', async () => {
  const under = {};
  const { loop, agent, judge } = await withJudge(
    async ({ axis }) => {
      if (axis === 'result' && judge.asked.length === 1) {
        under.agent.session.append('user/message', fromPerson('Forget that; look at c.'), {
          surfaceOp: 'append',
        });
      }
      return 0.01;
    },
    { config: { compactReceipts: true, compactOn: 'off' }, invariants: false },
  );
  under.agent = agent;
  await agent.prompt('Look at a.');
  const [first, second] = judge.asked;
  const [need] = first.ids.filter((id) => id.startsWith('result'));
  const [effect] = first.ids.filter((id) => id.startsWith('effect'));
  assert.ok(second.ids.includes(need), 'the need is asked about again');
  assert.ok(!second.ids.includes(effect), 'what the call did stays done');
  assert.ok(second.state.includes('- Forget that; look at c.'));
  await loop.dispose();
});

test('a new prompt is a new goal: needs are asked about again, effects are not', async () => {
  const { loop, agent, judge } = await withJudge(() => 0.9, {
    config: { compactReceipts: true, compactOn: 'off' },
  });
  await agent.prompt('Look at a.');
  const before = judge.asked.length;
  loop.script.push('main', say('again'));
  await agent.prompt('Now tell me about b.');
  const later = judge.asked.slice(before).flatMap(({ ids }) => ids);
  const earlier = judge.asked.slice(0, before).flatMap(({ ids }) => ids);
  assert.ok(later.some((id) => id.startsWith('result') && earlier.includes(id)));
  assert.ok(!later.some((id) => id.startsWith('effect') && earlier.includes(id)));
  await loop.dispose();
});

test('an abort while the judge thinks ends the turn and edits nothing', async () => {
  const { loop, agent } = await withJudge(
    ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        setTimeout(() => agent.agent.cancel({ kind: 'user' }), 20);
      }),
  );
  const { reason } = await agent.prompt('read');
  assert.equal(reason.kind, 'aborted');
  assert.equal(agent.session.events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace').length, 0);
  await loop.dispose();
});

test('the plugin disposed while the judge thinks lands nothing afterwards', async () => {
  const under = {};
  const judge = judgePlugin(async () => {
    under.fiber.dispose();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return 0;
  });
  const loop = await stage({
    window: 3_000,
    pages: { a: page('a', 9_000), b: page('b', 3_000) },
    steps: [reads('a'), reads('b')],
    config: { enabled: false },
  });
  under.fiber = await loop.mount(prune, prune.Config({ judge: 'fixed', ...LAYER_1, keepMode: 'absolute' }));
  await loop.mount(judge);
  const agent = await loop.agent();
  assert.equal((await agent.prompt('read')).text, 'done');
  assert.equal(agent.session.events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace').length, 0);
  await loop.dispose();
});

test('rules in relative mode make receipts by the floor', async () => {
  const loop = await stage({
    window: 12_000,
    config: { judge: 'rules', softLimit: '100%', compactSoftLimit: '50%' },
    pages: { a: page('a', 9_000), b: page('b', 9_000), c: page('c', 9_000) },
    steps: [reads('a'), reads('b'), reads('a'), reads('b'), reads('c')],
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  const facts = receiptsOn(agent).flatMap(({ data }) => data.content[0].text.match(/^· s\d+ read: ./gm));
  assert.deepEqual(
    facts.map((fact) => fact.at(-1)),
    ['a', 'b'],
  );
  assertValid(loop, agent);
  await loop.dispose();
});
