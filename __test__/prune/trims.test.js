/** Layer 1 on the real loop: what is cut at `toolResultPruner.pruneSession`, when, and what stays. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { acquire } from '../../plugin/host/lock.js';
import { stateOf } from '../../plugin/prune/state.js';
import { act, call, say } from '../support/script.js';
import { assertPriced, assertValid, judgePlugin, page, reads, resultsOn, stage } from './stage.js';

const MARKER = /\[… \d+ characters cut by prune; whole text at s(\d+) …\]/;
const STOCK_MARKER = '[... tool result middle pruned ...]';
const LAYER_1 = { judge: 'fixed', compactReceipts: false, keepMode: 'absolute', preserveRecent: 1 };

/** A loop whose judge says how much each path is needed. */
function judged(needs, options = {}) {
  const judge = judgePlugin(({ axis, path }) => (axis === 'result' ? needs[path] : 0.01));
  return stage({
    ...options,
    config: { ...LAYER_1, ...options.config },
    after: [[judge], ...(options.after ?? [])],
  }).then((loop) => Object.assign(loop, { judge }));
}

const replacements = (agent) => agent.session.events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace');
const cutPaths = (agent, paths) =>
  resultsOn(agent)
    .map(({ text }, at) => [paths[at], MARKER.test(text)])
    .filter(([, cut]) => cut)
    .map(([path]) => path);

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
  const [, seq] = MARKER.exec(first.text);
  assert.equal(agent.session.events[seq].data.message.content[0].content[0].text, again);
  assert.ok(first.text.startsWith(again.slice(0, 600)) && first.text.endsWith(again.slice(-200)));
  assert.equal(second.rewritten, false);
  assert.equal(third.text, again);
  assertValid(loop, agent);
  assertPriced(agent);
  await loop.dispose();
});

test('without pressure nothing is judged and nothing touched', async () => {
  const loop = await judged(
    { a: 0, b: 0 },
    {
      window: 1_000_000,
      pages: { a: page('a', 9_000), b: page('b', 9_000) },
      steps: [reads('a'), reads('b')],
    },
  );
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.deepEqual(replacements(agent), []);
  assert.deepEqual(loop.judge.asked, []);
  await loop.dispose();
});

test('needed stays and stale goes whatever its size, unjudged follows the stock rule', async () => {
  const sizes = { needed: 30_000, stale: 1_200, tiny: 300, big: 9_000, small: 5_000, last: 900 };
  const loop = await judged(
    { needed: 0.9, stale: 0.1, tiny: 0.1, last: 0.1 },
    {
      window: 20_000,
      pages: Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, page(name, size)])),
      steps: Object.keys(sizes).map((name) => reads(name)),
    },
  );
  const agent = await loop.agent();
  await agent.prompt('read');
  const texts = Object.fromEntries(resultsOn(agent).map(({ text }, at) => [Object.keys(sizes)[at], text]));
  assert.equal(texts.needed, page('needed', 30_000));
  assert.match(texts.stale, MARKER);
  assert.equal(texts.tiny, page('tiny', 300));
  assert.ok(texts.big.includes(STOCK_MARKER));
  assert.equal(texts.small, page('small', 5_000));
  assert.equal(texts.last, page('last', 900), 'the newest node stays');
  assertValid(loop, agent);
  assertPriced(agent);
  await loop.dispose();
});

test('the budget takes the least needed first and keeps the rest from the stock rule too', async () => {
  const needs = { a: 0.3, b: 0.1, c: 0.2, d: 0.4 };
  const loop = await judged(needs, {
    config: { keepMode: 'budget', softLimit: '50%' },
    window: 20_000,
    pages: Object.fromEntries(Object.keys(needs).map((name) => [name, page(name, 9_000)])),
    steps: [...Object.keys(needs).map((name) => reads(name)), reads('e')],
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.deepEqual(cutPaths(agent, ['a', 'b', 'c', 'd', 'e']), ['b']);
  assert.ok(!resultsOn(agent).some(({ text }) => text.includes(STOCK_MARKER)));
  await loop.dispose();
});

test('case Q3: the number answered is the number of results whose text changed', async () => {
  const answers = [];
  let release;
  const loop = await judged(
    { a: 0.1, b: 0.1, c: 0.1 },
    {
      window: 1_000_000,
      config: { judgeOn: 'always' },
      pages: { a: page('a', 3_000), b: page('b', 3_000), c: 'short' },
      steps: [
        reads('a'),
        () => {
          // So that the pass before the step cuts nothing, and the host's own call finds all of it.
          release = acquire(loop.ctx.agents.list()[0].session, 'fold');
          return reads('b', 'c', 'd');
        },
        () => {
          release();
          const { session } = loop.ctx.agents.list()[0];
          const before = session.surface.nodes.slice();
          const pruner = loop.ctx.get('toolResultPruner');
          for (let round = 0; round < 2; round += 1) answers.push(pruner.pruneSession(session));
          answers.push(session.surface.nodes.filter((seq, at) => seq !== before[at]));
          return say('done');
        },
      ],
    },
  );
  const agent = await loop.agent();
  await agent.prompt('read');
  const [first, second, changed] = answers;
  assert.deepEqual(
    first.pruned.map(({ replacementSeq }) => replacementSeq),
    changed,
  );
  assert.deepEqual([changed.length, second.pruned.length, second.charsRemoved], [2, 0, 0]);
  for (const { originalSeq, charsBefore, charsAfter } of first.pruned) {
    const { text } = agent.session.events[originalSeq].data.message.content[0].content[0];
    assert.equal(charsBefore, [...text].length);
    assert.ok(charsAfter < 900);
  }
  const outside = loop.ctx.get('toolResultPruner').pruneSession(agent.session);
  assert.deepEqual(outside, { pruned: [], charsRemoved: 0 }, 'no turn is open');
  await loop.dispose();
});

test('case Q6: everything but the content of a cut result is as it was', async () => {
  const loop = await judged(
    { a: 0.1 },
    {
      window: 3_000,
      pages: { a: page('a', 9_000) },
      steps: [reads('a'), reads('b')],
    },
  );
  const agent = await loop.agent();
  await agent.prompt('read');
  const [cut] = replacements(agent);
  const original = agent.session.events[cut.surfaceOp.start];
  const strip = ({ data }) => {
    const copy = structuredClone(data);
    copy.message.content[0].content = [];
    return copy;
  };
  assert.deepEqual(strip(cut), strip(original));
  assert.deepEqual(cut.sourceEventSeqs, [original.seq]);
  await loop.dispose();
});

test('input 22: an image between two texts keeps its place', async () => {
  const image = { type: 'image', attachment: { id: 'i', mimeType: 'image/png', name: 'a.png' } };
  const loop = await judged(
    { a: 0.1 },
    {
      window: 3_000,
      invariants: false,
      pages: {
        a: [{ type: 'text', text: '😀'.repeat(3_000) }, image, { type: 'text', text: 'z'.repeat(3_000) }],
      },
      steps: [reads('a'), reads('b')],
    },
  );
  const agent = await loop.agent();
  await agent.prompt('read');
  const [cut] = replacements(agent);
  const blocks = cut.data.message.content[0].content;
  assert.deepEqual(
    blocks.map(({ type }) => type),
    ['text', 'image', 'text'],
  );
  assert.ok(blocks[0].text.startsWith('😀'.repeat(600)) && MARKER.test(blocks[0].text));
  assert.ok(blocks[0].text.isWellFormed());
  assert.equal(blocks[2].text, 'z'.repeat(200));
  await loop.dispose();
});

test('a lone surrogate in a result survives the cut byte for byte', async () => {
  const text = `\ud83d${'x'.repeat(3_000)}\udc00`;
  const loop = await judged(
    { a: 0.1 },
    { window: 2_000, pages: { a: text }, steps: [reads('a'), reads('b')] },
  );
  const agent = await loop.agent();
  await agent.prompt('read');
  const [{ text: cut }] = resultsOn(agent);
  assert.equal(cut.slice(0, 600), text.slice(0, 600));
  assert.equal(cut.slice(-200), text.slice(-200));
  await loop.dispose();
});

test('case W4: with nothing newly stale, ten more requests change no byte of the prefix', async () => {
  const loop = await judged(
    { a: 0.1, b: 0.9 },
    {
      window: 4_000,
      pages: { a: page('a', 9_000), b: page('b', 9_000) },
      steps: [
        reads('a'),
        reads('b'),
        ...Array.from({ length: 10 }, () => act(call(`x${Math.random()}`, 'read', { path: 'b' }))),
      ],
    },
  );
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.equal(replacements(agent).length, 1);
  const requests = loop.adapter.of('main').map(({ messages }) => messages);
  for (const [at, messages] of requests.entries()) {
    if (at < 3) continue;
    assert.deepEqual(messages.slice(0, requests[at - 1].length), requests[at - 1]);
  }
  await loop.dispose();
});

test('while another writer holds the session nothing is edited', async () => {
  let release;
  const loop = await judged(
    { a: 0.1 },
    {
      window: 3_000,
      pages: { a: page('a', 9_000) },
      steps: [
        reads('a'),
        () => {
          release = acquire(loop.ctx.agents.list()[0].session, 'fold');
          return reads('b');
        },
      ],
    },
  );
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.equal(replacements(agent).length, 0);
  assert.match((await agent.command('/prune status')).result.text, /results: held by fold/);
  release();
  loop.script.push('main', say('done'));
  await agent.prompt('again');
  assert.equal(replacements(agent).length, 1);
  await loop.dispose();
});

test('on an overflow protection yields to the stock rule, the least needed first', async () => {
  const needs = { a: 0.9, b: 0.6, c: 0.7 };
  const loop = await judged(needs, {
    config: { judgeOn: 'always' },
    window: 1_000_000,
    compaction: {},
    pages: Object.fromEntries(Object.keys(needs).map((name) => [name, page(name, 9_000)])),
    steps: [
      ...Object.keys(needs).map((name) => reads(name)),
      reads('last'),
      { status: 400, error: 'too long', code: 'CONTEXT_WINDOW_EXCEEDED' },
      say('ok'),
    ],
    match: { summary: ({ messages }) => messages.at(-1).content.includes('checkpoint') },
  });
  const agent = await loop.agent();
  const seqs = [];
  await agent.prompt('read');
  for (const { surfaceOp, type } of replacements(agent))
    if (type === 'tool/result') seqs.push(surfaceOp.start);
  const named = resultsOn({
    surface: () => agent.session.events.filter((event) => event.surfaceOp === 'append'),
  });
  assert.deepEqual(seqs, [named[1].seq, named[2].seq, named[0].seq]);
  assert.equal(stateOf(agent.session).overflow, false, 'and is back once the request is answered');
  await loop.dispose();
});

test('dryRun leaves the stock rule alone at work', async () => {
  const loop = await judged(
    { a: 0.1, b: 0.9 },
    {
      config: { dryRun: true, judgeOn: 'always' },
      window: 8_000,
      compaction: { thresholdRatio: 0.3, retainRatio: 0.2 },
      pages: { a: page('a', 3_000), b: page('b', 9_000) },
      steps: [reads('a'), reads('b')],
      match: { summary: ({ messages }) => messages.at(-1).content.includes('Do not copy it forward') },
    },
  );
  const agent = await loop.agent();
  await agent.prompt('read');
  const texts = agent.results().map(({ text }) => text);
  assert.ok(!texts.some((text) => MARKER.test(text)));
  assert.ok(texts.some((text) => text.includes(STOCK_MARKER)));
  await loop.dispose();
});

test('child sessions are left to the stock rule unless the row says otherwise', async () => {
  for (const subagents of [false, true]) {
    const loop = await judged(
      { a: 0.1 },
      {
        config: { subagents },
        window: 3_000,
        pages: { a: page('a', 6_000) },
        steps: [reads('a'), reads('b')],
      },
    );
    const agent = await loop.agent({ meta: { origin: 'subagent' } });
    assert.equal(agent.session.header.origin, 'subagent');
    await agent.prompt('read');
    assert.equal(replacements(agent).length, subagents ? 1 : 0);
    await loop.dispose();
  }
});

test('a corrupt surface is refused by seq, and nothing is edited', async () => {
  const loop = await judged(
    { a: 0.1, b: 0.1 },
    {
      window: 3_000,
      pages: { a: page('a', 6_000) },
      steps: [say('never asked')],
      invariants: false,
    },
  );
  const agent = await loop.agent();
  const { session } = agent;
  const donor = await stage({ window: 1_000_000, steps: [reads('a')] });
  const other = await donor.agent();
  await other.prompt('read');
  const result = other.session.events.find(({ type }) => type === 'tool/result');
  const orphan = session.append('tool/result', structuredClone(result.data), { surfaceOp: 'append' });
  const before = session.seq;
  const status = await agent.command('/prune dry-run');
  const named = new RegExp(`^Nothing would be pruned: CORRUPT_SURFACE: .*seq ${orphan.seq} is a tool result without`);
  assert.match(status.result.text, named);
  const after = session.seq;
  assert.match(
    (await agent.command('/prune status')).result.text,
    new RegExp(`Warning: nothing pruned: .*seq ${orphan.seq} is a tool result without an open call`),
  );
  assert.deepEqual(
    session.events.slice(before, after).map(({ type }) => type),
    ['command/run', 'command/done'],
  );
  await donor.dispose();
  await loop.dispose();
});
