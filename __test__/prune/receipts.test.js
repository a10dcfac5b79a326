/** Layer 2 on the real loop: which steps become receipts, how they land, and how the originals come back. */
import assert from 'node:assert/strict';
import test from 'node:test';
import * as recall from '../../plugin/recall/index.js';
import { act, call, say } from '../support/script.js';
import { scriptedTool } from '../support/tools.js';
import {
  assertPriced,
  assertValid,
  callOf,
  judgePlugin,
  page,
  reads,
  receiptsOn,
  resultsOn,
  stage,
} from './stage.js';

const LAYER_2 = {
  judge: 'fixed',
  judgeOn: 'always',
  softLimit: '100%',
  keepThreshold: 0,
  keepFloorThreshold: 0,
  compactOn: 'always',
};
const EN = '[compacted · deterministic receipt]';

/** A loop whose judge gives both axes by path; `[need, effect]`, or one value for both. */
function judged(values, options = {}) {
  const judge = judgePlugin(({ axis, path, ...more }) => {
    const value = typeof values === 'function' ? values({ axis, path, ...more }) : values[path];
    return Array.isArray(value) ? value[axis === 'result' ? 0 : 1] : value;
  });
  return stage({
    window: 1_000_000,
    ...options,
    config: { ...LAYER_2, ...options.config },
    after: [[judge], ...(options.after ?? [])],
  }).then((loop) => Object.assign(loop, { judge }));
}

const pagesOf = (names, chars = 6_000) => Object.fromEntries(names.map((name) => [name, page(name, chars)]));
const textOfReceipt = (event) => event.data.content[0].text;

test('input 19 on the loop: the intersection of both tails becomes one receipt', async () => {
  const values = {
    a: [0.05, 0.3],
    b: [0.06, 0.04],
    c: [0.07, 0.05],
    d: [0.2, 0.06],
    e: [0.3, 0.07],
    f: [0.35, 0.2],
  };
  const names = Object.keys(values);
  // One step reads all six one after the other, so that the population is complete at the first pass that
  // sees it.
  const loop = await judged(values, {
    config: { compactOn: 'pressure', compactSoftLimit: '40%', judgeOn: 'pressure' },
    window: 20_000,
    pages: pagesOf(names),
    steps: [...names.map((name) => reads(name)), say('first')],
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  const receipts = receiptsOn(agent);
  assert.ok(receipts.length >= 1);
  const [
    {
      data: { source },
    },
  ] = receipts;
  assert.deepEqual([source.kind, source.plugin, source.receipt], ['plugin', 'rewind-prune', 1]);
  assert.deepEqual(source.seqs, agent.session.events[receipts[0].seq].sourceEventSeqs);
  assertValid(loop, agent);
  assertPriced(agent);
  await loop.dispose();
});

test('a whole read-only step becomes one message that states what it was, in either language', async () => {
  for (const [receiptLanguage, line] of [
    ['en', /^· s\d+ read: a → \d+ chars$/m],
    ['zh', /^· s\d+ read：a → \d+ 字符输出$/m],
  ]) {
    const loop = await judged(
      { a: 0.05, b: 0.05, c: 0.9 },
      {
        config: { receiptLanguage },
        pages: pagesOf(['a', 'b', 'c']),
        steps: [
          act(call('r1', 'read', { path: 'a' }), { text: 'Looking at a.', reasoning: 'hm' }),
          reads('b'),
          reads('c'),
        ],
      },
    );
    const agent = await loop.agent();
    await agent.prompt('read');
    const [receipt] = receiptsOn(agent);
    const text = textOfReceipt(receipt);
    assert.match(text, line);
    assert.ok(text.includes('Looking at a.') && !text.includes('hm'));
    assert.equal(receipt.data.content.length, 1);
    assertValid(loop, agent);
    assertPriced(agent);
    await loop.dispose();
  }
});

test('input 28: adjacent steps merge, with the same bytes each time, once', async () => {
  const run = async () => {
    const loop = await judged((one) => (one.path === 'c' ? 0.9 : 0.05), {
      config: { compactOn: 'pressure', compactSoftLimit: '14%', judgeOn: 'pressure' },
      window: 30_000,
      pages: pagesOf(['a', 'b', 'c']),
      steps: [reads('a'), reads('b'), reads('c'), reads('c'), reads('c')],
    });
    const agent = await loop.agent();
    await agent.prompt('read');
    const texts = receiptsOn(agent).map(textOfReceipt);
    const replaced = agent.session.events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace').length;
    await loop.dispose();
    return { texts, replaced };
  };
  const first = await run();
  assert.equal(first.texts.length, 1);
  assert.equal(first.replaced, 1);
  assert.match(first.texts[0], /was 2 tool calls/);
  assert.deepEqual(await run(), first);
});

test('input 25: of a batch of six with one that holds evidence, five bodies are replaced', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const loop = await judged(() => 0.05, {
    pages: { ...pagesOf(names), c: `${page('c', 6_000)}TypeError: of no kind\n` },
    steps: [reads(...names), reads('g')],
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  const results = resultsOn(agent).slice(0, 6);
  assert.deepEqual(
    results.map(({ text }) => text.startsWith(EN)),
    [true, true, false, true, true, true],
  );
  assert.equal(results[2].rewritten, false);
  for (const [at, name] of names.entries()) {
    if (name !== 'c')
      assert.match(
        results[at].text,
        new RegExp(
          `^\\[.*\\] s\\d+ read: ${name} → \\d+ chars\\. Original in the session log \\(seq \\d+\\)\\.$`,
        ),
      );
  }
  assertValid(loop, agent);
  assertPriced(agent);
  await loop.dispose();
});

test('shells, writes and unjudged steps stay where they are', async () => {
  const loop = await judged(({ path }) => (path === 'unjudged' ? undefined : 0.05), {
    tools: [
      scriptedTool('read', 'path', { '*': page('read', 6_000) }),
      scriptedTool('bash', 'path', { '*': page('bash', 6_000) }),
      scriptedTool('write', 'path', { '*': page('write', 6_000) }),
    ],
    steps: [
      act(call('1', 'bash', { path: 'x' })),
      act(call('2', 'write', { path: 'x' })),
      reads('unjudged'),
      reads('tail'),
    ],
  });
  const agent = await loop.agent();
  await agent.prompt('do');
  assert.deepEqual(receiptsOn(agent), []);
  assert.deepEqual(
    resultsOn(agent).filter(({ rewritten }) => rewritten),
    [],
  );
  const effects = loop.judge.asked.flatMap(({ ids }) => ids).filter((id) => id.startsWith('effect'));
  const tools = effects.map((id) => callOf(agent.session, Number(id.slice('effect_s'.length))).tool);
  assert.deepEqual([...new Set(tools)], ['read'], 'only what a receipt could take is asked about');
  await loop.dispose();
});

test('evidence that layer 1 cut away still keeps its step', async () => {
  const hidden = `${page('a', 5_000)}\nit failed at last\n${page('a', 5_000)}`;
  const loop = await judged(({ path, axis }) => (path === 'a' ? 0.05 : axis === 'result' ? 0.9 : 0.9), {
    config: { keepThreshold: 0.5, keepFloorThreshold: 0.2, keepMode: 'absolute', preserveRecent: 1 },
    pages: { a: hidden, ...pagesOf(['b', 'c']) },
    steps: [reads('a'), reads('b'), reads('c'), reads('c')],
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  const [a] = resultsOn(agent);
  assert.match(a.text, /characters cut by prune/);
  assert.ok(!a.text.includes('failed'));
  assert.deepEqual(receiptsOn(agent), []);
  assert.match((await agent.command('/prune status')).result.text, /evidence 1/);
  await loop.dispose();
});

test('a receipt that would cost too much does not land', async () => {
  const loop = await judged(() => 0.05, {
    config: { receiptMaxRatio: 0.01 },
    pages: pagesOf(['a', 'b']),
    steps: [reads('a'), reads('b'), reads('c')],
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.deepEqual(receiptsOn(agent), []);
  await loop.dispose();
});

test('at most maxCompactionsPerPass receipts land in one pass', async () => {
  const loop = await judged(({ path }) => (path.startsWith('stay') ? 0.9 : 0.05), {
    config: {
      maxCompactionsPerPass: 2,
      compactMode: 'absolute',
      judgeOn: 'pressure',
      compactOn: 'pressure',
      compactSoftLimit: '55%',
    },
    window: 20_000,
    pages: { ...pagesOf(['a', 'b', 'c'], 8_000), stay1: page('s', 7_000), stay2: page('s', 7_000) },
    steps: [reads('a'), reads('stay1'), reads('b'), reads('stay2'), reads('c'), reads('tail')],
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  const byRequest = loop.adapter
    .of('main')
    .map(
      ({ messages }) =>
        messages.filter(({ role, content }) => role === 'user' && content.includes?.(EN)).length,
    );
  assert.ok(
    byRequest.every((count, at) => count - (byRequest[at - 1] ?? 0) <= 2),
    String(byRequest),
  );
  assert.ok(byRequest.at(-1) >= 1);
  assertValid(loop, agent);
  await loop.dispose();
});

test('input 33: recall gives back what cuts and receipts took away', async () => {
  const loop = await judged(
    ({ path, axis }) => (axis === 'result' ? { a: 0.05, b: 0.05, c: 0.9, e: 0.05 }[path] : 0.05),
    {
      config: {
        keepThreshold: 0.5,
        keepFloorThreshold: 0.2,
        keepMode: 'absolute',
        preserveRecent: 3,
        compactMinChars: 100,
        receiptMaxRatio: 1,
      },
      plugins: [[recall, recall.Config({})]],
      // Evidence keeps the step of e from becoming a receipt, so its result is cut and stands.
      pages: { ...pagesOf(['a', 'b', 'c', 'd']), e: `${page('e', 6_000)}failed\n${page('e', 6_000)}` },
      steps: [reads('a'), reads('b', 'c'), reads('e'), reads('d'), reads('d')],
    },
  );
  const agent = await loop.agent();
  await agent.prompt('read');
  const originals = agent.session.events.filter(
    ({ type, surfaceOp }) => type === 'tool/result' && surfaceOp === 'append',
  );
  const receipt = receiptsOn(agent)[0];
  assert.ok(receipt, 'step a became a receipt');
  const partial = resultsOn(agent).find(({ text }) => text.startsWith(EN));
  assert.ok(partial, 'result b became one');
  const cut = resultsOn(agent).find(({ text }) => text.includes('characters cut by prune'));
  assert.ok(cut?.text.includes('The e part'), 'result e was cut');
  for (const [seq, name] of [
    [receipt.seq, 'a'],
    [partial.seq, 'b'],
    [cut.seq, 'e'],
  ]) {
    loop.script.push('main', act(call(`rec${seq}`, 'recall', { seq })), say('ok'));
    await agent.prompt('recall it');
    const { text } = agent.results().find(({ callId }) => callId === `rec${seq}`);
    assert.ok(text.includes(page(name, 6_000).slice(0, 500)), `${name}: ${text.slice(0, 300)}`);
  }
  assert.ok(originals.length >= 6);
  await loop.dispose();
});

test('nothing before the first changed node differs by a byte', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const loop = await judged(({ path }) => (path < 'd' ? 0.9 : 0.05), {
    pages: pagesOf(names),
    steps: names.map((name) => reads(name)),
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.ok(receiptsOn(agent).length > 0);
  const requests = loop.adapter.of('main').map(({ messages }) => messages);
  const kept = requests[3].slice(0, 8);
  for (const messages of requests.slice(4)) assert.deepEqual(messages.slice(0, kept.length), kept);
  assertValid(loop, agent);
  await loop.dispose();
});

test('judgeOn off means no verdicts and so no receipts', async () => {
  const loop = await judged(() => 0.01, {
    config: { judgeOn: 'off' },
    pages: pagesOf(['a', 'b']),
    steps: [reads('a'), reads('b'), reads('c')],
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.deepEqual(loop.judge.asked, []);
  assert.deepEqual(receiptsOn(agent), []);
  await loop.dispose();
});

test('minStepsBetweenPasses spaces the passes out', async () => {
  const loop = await judged(() => 0.9, {
    config: { minStepsBetweenPasses: 3 },
    pages: pagesOf(['a']),
    steps: Array.from({ length: 6 }, () => reads('a')),
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.match((await agent.command('/prune status')).result.text, /So far: 3 passes/);
  await loop.dispose();
});
