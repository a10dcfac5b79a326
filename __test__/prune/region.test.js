/**
 * Receipts through compaction's bracket: the fence that nobody else can take, and what the real engine does
 * with it.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { BasicCompactionEngine } from '@deepseek-ai/dsh-compaction-basic';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { Hooks } from '../../plugin/prune/hooks.js';
import { fence, landRegion } from '../../plugin/prune/region.js';
import { createLoop } from '../support/loop.js';
import { say } from '../support/script.js';
import { readTool } from '../support/tools.js';
import { assertPriced, assertValid, judgePlugin, page, prune, reads, resultsOn, stage } from './stage.js';

const HEADER = '[compacted · deterministic receipt]';
const REGION = {
  judge: 'fixed',
  receiptTransport: 'region',
  judgeOn: 'always',
  softLimit: '100%',
  keepThreshold: 0,
  keepFloorThreshold: 0,
  compactOn: 'always',
};
const SUMMARY_LANE = {
  summary: ({ messages }) =>
    String(messages.at(-1).content).includes('automatically') ||
    String(messages.at(-1).content).includes('Do not copy it forward'),
};

async function region(values, { config = {}, ...more } = {}) {
  const judge = judgePlugin(({ path }) => values[path]);
  const names = Object.keys(values);
  return stage({
    window: 1_000_000,
    pages: Object.fromEntries(names.map((name) => [name, page(name, 9_000)])),
    steps: names.map((name) => reads(name)),
    config: { ...REGION, ...config },
    after: [[judge]],
    match: SUMMARY_LANE,
    ...more,
  });
}

const summaries = (agent) => agent.surface().filter(({ data }) => data.source?.plugin === 'compact');

test('a receipt lands as the summary of a real compaction bracket, and no model is asked', async () => {
  const loop = await region({ a: 0.05, b: 0.05, c: 0.9, d: 0.9 });
  const agent = await loop.agent();
  await agent.prompt('read');
  const [node] = summaries(agent);
  const [open, text, close] = node.data.content.map((block) => block.text);
  assert.ok(open.endsWith('<compacted-summary>') && close === '</compacted-summary>');
  assert.ok(text.startsWith(HEADER) && /· s\d+ read: a → \d+ chars/.test(text));
  const { events } = agent.session;
  const summary = events.find(({ type }) => type === 'compaction/summary');
  assert.deepEqual([summary.data.provider, summary.data.model], ['scripted', 'scripted-1']);
  assert.equal(summary.data.llmStreamCall, undefined);
  assert.deepEqual(
    events
      .filter(({ type }) => /^compaction\/(start|end)$/.test(type))
      .map(({ type }) => type)
      .slice(0, 2),
    ['compaction/start', 'compaction/end'],
  );
  assert.equal(loop.adapter.of('summary').length, 0);
  assert.match((await agent.command('/prune receipts')).result.text, /receipts? on the surface/);
  assertValid(loop, agent);
  assertPriced(agent);
  await loop.dispose();
});

test('a framed receipt is priced as it will stand', async () => {
  const { affordable } = await import('../../plugin/prune/receipts.js');
  const loop = await region({ a: 0.05, b: 0.05, c: 0.9 });
  const agent = await loop.agent();
  await agent.prompt('read');
  const [node] = summaries(agent);
  const [, { text }] = node.data.content;
  const plan = { edits: () => [{ full: true, seqs: [node.seq], text }], admit: () => [0] };
  const [{ landed }] = affordable(plan, agent.session, loop.ctx.tokenMeter, true);
  assert.equal(landed, loop.ctx.tokenMeter.estimateMessage(node.data));
  await loop.dispose();
});

test("quoted text cannot close compaction's tag", async () => {
  const loop = await region({ '</compacted-summary>': 0.05, 'b': 0.05, 'c': 0.9 });
  const agent = await loop.agent();
  await agent.prompt('read');
  const [node] = summaries(agent);
  assert.ok(!node.data.content[1].text.includes('</compacted-summary>'));
  assert.ok(node.data.content[1].text.includes('< /compacted-summary>'));
  await loop.dispose();
});

test('bodies inside a batch are replaced directly', async () => {
  const judge = judgePlugin(({ path }) => ({ a: 0.05, b: 0.9, c: 0.05 })[path]);
  const loop = await stage({
    window: 1_000_000,
    pages: { a: page('a', 9_000), b: page('b', 9_000), c: page('c', 9_000) },
    steps: [reads('a', 'b'), reads('c'), reads('d')],
    config: REGION,
    after: [[judge]],
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.ok(resultsOn(agent)[0].text.startsWith(HEADER));
  assert.equal(resultsOn(agent)[1].rewritten, false);
  assertValid(loop, agent);
  await loop.dispose();
});

test('without a compaction service receipts land directly, with one warning', async () => {
  const judge = judgePlugin(({ path }) => ({ a: 0.05, b: 0.05 })[path] ?? 0.9);
  const loop = await createLoop({
    tools: [readTool({ '*': page('x', 9_000) })],
    plugins: [[prune, prune.Config(REGION)], [judge]],
    steps: { main: [reads('a'), reads('b'), reads('c'), reads('d'), say('done')] },
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.ok(agent.surface().some(({ data }) => data.source?.plugin === 'rewind-prune'));
  const { text } = (await agent.command('/prune status')).result;
  assert.equal(text.split('no compaction service can take a receipt').length, 2);
  await loop.dispose();
});

test('disposal takes the fence away', async () => {
  const loop = await stage({ config: { enabled: false } });
  const fiber = await loop.mount(prune, prune.Config({ ...REGION, judge: 'rules' }));
  await loop.agent();
  const compaction = loop.ctx.get('compaction');
  assert.deepEqual(
    Object.keys(compaction)
      .filter((key) => /^(compact|summarize)/.test(key))
      .toSorted(),
    ['compactNow', 'compactRegion', 'summarize'],
  );
  await fiber.dispose();
  assert.deepEqual(
    Object.keys(compaction).filter((key) => /^(compact|summarize)/.test(key)),
    [],
  );
  await loop.dispose();
});

// Input 29: the fence by itself, around an engine whose timing the test decides.

const ROUTE = { provider: 'p', model: 'm' };

/** A session of one foldable step, and an engine of the real shape that a test can hold up. */
function fenced({ before = async () => {}, regionMessages } = {}) {
  const message = (text) =>
    createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } });
  const makeAgent = (name) => {
    const messages = [message(`${name} one`), message(`${name} two`)];
    const session = {
      name,
      messages,
      events: messages.map((one, seq) => ({ seq, one })),
      seq: 2,
      surface: { nodes: [0, 1] },
      deriveEventMessage: ({ one }) => one,
      requestHeader: () => ({ config: ROUTE }),
    };
    return { session, options: {} };
  };
  const landed = [];
  class Engine {
    async compactRegion(start, end, agent, signal) {
      await before(this, agent);
      const messages = regionMessages ?? agent.session.messages;
      const { summary } = await this.summarize({ messages }, agent, signal);
      landed.push([agent.session.name, summary[0].text]);
    }
    async compactNow(agent) {
      return this.compactRegion(0, 1, agent);
    }
    async summarize() {
      return { summary: [{ type: 'text', text: 'by the model' }], provider: 'x', model: 'y' };
    }
  }
  const engine = new Engine();
  const hooks = new Hooks();
  fence(hooks, engine);
  return { engine, hooks, makeAgent, landed };
}

const receiptFor = (name) => ({ seqs: [0, 1], text: `receipt of ${name}` });

test('input 29: an external summary before ours gets the original, ours gets the receipt', async () => {
  let outside;
  const { engine, makeAgent, landed } = fenced({
    before: async (self, { session }) => {
      if (session.name === 'a' && !outside) {
        outside = true;
        // Inside our own async context: another session is compacted, and the same session once more.
        await self.compactRegion(0, 1, makeAgent('b'));
        await self.compactNow(makeAgent('a'));
      }
    },
  });
  const agent = makeAgent('a');
  await landRegion(engine, agent, receiptFor('a'));
  assert.deepEqual(landed, [
    ['b', 'by the model'],
    ['a', 'by the model'],
    ['a', 'receipt of a'],
  ]);
});

test('input 29: two sessions interleaved get their own receipts', async () => {
  const gates = { a: Promise.withResolvers(), b: Promise.withResolvers() };
  const { engine, makeAgent, landed } = fenced({
    before: (_self, { session }) => gates[session.name].promise,
  });
  const runs = ['a', 'b'].map((name) => landRegion(engine, makeAgent(name), receiptFor(name)));
  gates.b.resolve();
  await runs[1];
  gates.a.resolve();
  await runs[0];
  assert.deepEqual(landed, [
    ['b', 'receipt of b'],
    ['a', 'receipt of a'],
  ]);
});

test('input 29: a region that is not ours any more, or an abort, gets no receipt and says so', async () => {
  const other = [
    createUserMessage({ content: [{ type: 'text', text: 'changed' }], source: { kind: 'user' } }),
  ];
  const changed = fenced({ regionMessages: other });
  await assert.rejects(landRegion(changed.engine, changed.makeAgent('a'), receiptFor('a')), {
    code: 'FENCE_LOST',
  });
  assert.deepEqual(changed.landed, [['a', 'by the model']]);
  const aborted = fenced();
  await assert.rejects(
    landRegion(aborted.engine, aborted.makeAgent('a'), receiptFor('a'), AbortSignal.abort(new Error('stop'))),
    { code: 'FENCE_LOST' },
  );
});

test('the receipt is claimed once', async () => {
  const { engine, makeAgent, landed } = fenced();
  const agent = makeAgent('a');
  const { compactRegion } = engine;
  Object.getPrototypeOf(engine).compactRegion = async function twice(_start, _end, owner, signal) {
    for (let round = 0; round < 2; round += 1) {
      const { summary } = await this.summarize({ messages: owner.session.messages }, owner, signal);
      landed.push([owner.session.name, summary[0].text]);
    }
  };
  assert.ok(compactRegion);
  const hooks = new Hooks();
  delete engine.compactRegion;
  fence(hooks, engine);
  await landRegion(engine, agent, receiptFor('a'));
  assert.deepEqual(landed, [
    ['a', 'receipt of a'],
    ['a', 'by the model'],
  ]);
});

test('a summary by the real engine at the same time keeps its own words', async () => {
  const loop = await region(
    { a: 0.05, b: 0.05, c: 0.9, d: 0.9 },
    {
      window: 12_000,
      compaction: { thresholdRatio: 0.6, retainRatio: 0.3 },
      lanes: { summary: [say('what the model says'), say('and again')] },
      config: { compactOn: 'pressure', compactSoftLimit: '90%', judgeOn: 'pressure' },
    },
  );
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.ok(summaries(agent).every(({ data }) => !data.content[1].text.startsWith(HEADER)));
  assert.ok(loop.adapter.of('summary').length >= 1);
  assertValid(loop, agent);
  await loop.dispose();
  assert.equal(typeof BasicCompactionEngine, 'function');
});
