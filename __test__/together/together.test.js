/**
 * The meetings of the three plugins, one by one: receipts and cuts inside a turn that is summarized later
 * (tricky input 34), a fold inside one, a turn that ends under an active mark, a fold around checkpoints, and
 * a session compaction that takes old ones.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { act, always, call, say } from '../support/script.js';
import {
  accounts, assertSound, callTool, checkpoints, landed, segmentsOf, toWrite, until,
} from '../turn-memory/stage.js';
import { Watch, kindOf } from './laws.js';
import { together } from './stage.js';

const page = (name) => `${`plain words about ${name}\n`.repeat(90)}needle-${name}\n`;
const reading = ({ path, command }) => page(path ?? command);
const read = (id, path = id) => call(id, 'read', { path });

/** A composition whose every event is watched; `rest` checks what must hold now. */
async function watched(t, options) {
  const loop = await together(t, { reading, ...options });
  const agent = await loop.agent();
  const watch = new Watch(loop.ctx, agent.session);
  const rest = () => {
    watch.rest(loop.ctx);
    assert.deepEqual(watch.breaches, []);
    assertSound(loop, agent);
  };
  return { loop, agent, watch, rest };
}

const edits = (agent) => agent.session.events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace').map(kindOf);
const working = (event) => segmentsOf(event).filter(([kind]) => kind === 'working');

/** Nothing is a receipt but a whole step of reads that was made again, and a body of a batch. */
const RECEIPTS = { keepThreshold: 0.1, keepFloorThreshold: 0.1, compactThreshold: 0.1 };

test('tricky 34: receipts and cuts inside a turn are part of its process when it is summarized', async (t) => {
  const drafts = [];
  const { loop, agent, rest } = await watched(t, {
    rows: { memory: { summaryEngine: 'fork' }, prune: { ...RECEIPTS, neverPruneTools: ['read'] } },
    main: [
      act([read('r1', 'a')], { text: 'First a.' }), act([read('r2', 'b'), read('r3', 'c')]),
      act([call('x1', 'bash', { command: 'ls' })]), act([call('x2', 'bash', { command: 'ls' })]),
      act([read('r4', 'a')]), act([read('r5', 'b')]), act([read('r6', 'd')]), say('Done with it.'),
    ],
    steps: { worker: always((request) => {
      const { messages } = request.options;
      const seen = messages.at(-1).content.filter(({ type }) => type === 'tool-result');
      const texts = seen.map(({ content }) => content[0].text);
      if (texts.some((text) => text.includes('replaced'))) return say('DONE');
      const ids = toWrite(messages.map(({ content }) => content[0].text ?? '').join('\n'));
      if (seen.length === 0) return act(ids.map((id) => call(`see${id}`, 'draft_read_segment', { id })));
      drafts.push(...texts);
      return act(ids.map((id) => call(`w${id}`, 'draft_replace_segment', { id, content: 'I read a, b, c and d.' })));
    }) },
  });
  await agent.prompt('Look at all of it.');
  assert.deepEqual(edits(agent).toSorted().slice(0, 3), ['cut', 'partial', 'rewind-prune']);
  const event = await landed(agent, 1);
  const draft = drafts.join('\n');
  assert.match(draft, /^\[injected: rewind-prune\]\n\[compacted · deterministic receipt\] The earlier history /m);
  assert.match(draft, /^· s\d+ the model's words \(verbatim\): First a\.\n· s\d+ read: a → \d+ chars$/m);
  assert.match(draft, /^\[tool\/result: read\]\n\[compacted · deterministic receipt\] s\d+ read: b → \d+ chars\./m);
  assert.match(draft, /^\[tool\/result: bash\]\nplain words about ls\n[^]*cut by prune; whole text at s\d+/m);
  // The receipt took the words of the model in its step along, and quotes them; what stood stays its own part.
  assert.deepEqual(segmentsOf(event).map(([kind]) => kind), ['working', 'assistant']);
  rest();

  const raw = await callTool(loop, agent, 'expand_turn', { turn: 1, mode: 'raw' });
  for (const name of ['a', 'b', 'c', 'd', 'ls']) assert.match(raw.text, new RegExp(`needle-${name}`));
  assert.doesNotMatch(raw.text, /deterministic receipt|cut by prune/);
  const back = await callTool(loop, agent, 'recall', { seq: event.seq, pattern: 'needle' });
  for (const name of ['a', 'b', 'c', 'd', 'ls']) assert.match(back.text, new RegExp(`needle-${name}`));
  rest();
});

test('a fold inside a turn: its report is process, and the words it quotes are steers', async (t) => {
  const held = {};
  const { agent, rest } = await watched(t, {
    reading: ({ path }) => {
      if (path === 'b') held.agent.steer('not the second one, please');
      return page(path);
    },
    main: [
      act([call('cp', 'checkpoint', { objective: 'look' })]), act([read('r1', 'a')]),
      act([read('r2', 'b'), read('r3', 'c')]),
      act([read('r4', 'd')]), act([call('rw', 'rewind')]), say('It is the first.'),
    ],
  });
  held.agent = agent;
  await agent.prompt('Which one?');
  assert.ok(edits(agent).includes('rewind'));
  const event = await landed(agent, 1);
  const steers = segmentsOf(event).filter(([kind]) => kind === 'user-steer').map(([, , text]) => text);
  assert.deepEqual(steers, ['not the second one, please']);
  assert.ok(working(event).length >= 1);
  assert.equal(agent.surface()[0].data.content[0].text, 'Which one?');
  rest();
});

test('a turn that ends under an active mark is kept, and is summarized after the fold', async (t) => {
  const { loop, agent, rest } = await watched(t, {
    rows: { prune: RECEIPTS },
    main: [
      act([call('cp', 'checkpoint', { objective: 'look' })]), act([read('r1', 'a')]), act([read('r2', 'b')]),
      act([read('r3', 'a')]), say('More tomorrow.'), say('Not folding yet.'),
      act([read('r4', 'c')]), act([call('rw', 'rewind')]), say('It is the first.'),
    ],
  });
  await agent.prompt('Look.');
  await until(() => loop.adapter.of('summary').length === 1, 'the summary');
  await sleep(50);
  assert.deepEqual(checkpoints(agent), [], 'the carrier of the mark stays');
  await agent.prompt('Go on.');
  assert.equal(edits(agent).filter((kind) => kind === 'rewind').length, 1);
  await landed(agent, 2);
  await landed(agent, 1);
  rest();
  assert.ok(checkpoints(agent).length === 2 && agent.surface().some(({ data }) => data.content?.[0].text === 'Go on.'));
});

test('a fold whose region holds the checkpoint of a turn lands around it', async (t) => {
  const { agent, rest } = await watched(t, {
    rows: { prune: { enabled: false }, memory: { minShrinkRatio: 0.3 } },
    main: [
      // The turn of the mark is too small to be summarized, so its carrier stays.
      act([call('cp', 'checkpoint', { objective: 'look' })]), say('Marked.'), say('Not yet.'),
      act([read('r1', 'a')]), act([read('r2', 'b')]), say('The second.'), say('Not yet.'),
      act([read('r3', 'c')]), act([read('r4', 'd')]), act([call('rw', 'rewind')]), say('All of it.'),
    ],
  });
  await agent.prompt('Mark.');
  await agent.prompt('Look.');
  const before = await landed(agent, 2);
  await agent.prompt('Look on.');
  const kinds = edits(agent);
  assert.ok(kinds.includes('rewind') && kinds.includes('rewind-pointer'), kinds.join());
  assert.ok(agent.session.surface.nodes.includes(before.seq), 'the checkpoint stands as it did');
  const texts = agent.surface().map(({ data }) => data.content?.[0].text).filter(Boolean);
  for (const said of ['Mark.', 'Look.', 'Look on.']) assert.ok(texts.includes(said), said);
  rest();
});

test('a session compaction takes old checkpoints: their turns are done, and are still told', async (t) => {
  const { loop, agent, rest } = await watched(t, {
    rows: { compaction: { auto: false, retainTokens: 20 } },
    steps: { summary: always(accounts((id) => `Account of part ${id}. ${'It went on. '.repeat(60)}`)) },
    main: [act([read('r1', 'a')]), say('The first.'), act([read('r2', 'b')]), say('The second.')],
  });
  await agent.prompt('Look.');
  const event = await landed(agent, 1);
  await agent.prompt('Look on.');
  await landed(agent, 2);
  await loop.ctx.compaction.compactNow(agent.agent, new AbortController().signal);
  assert.equal(agent.surface()[0].data.source.plugin, 'compact');
  assert.ok(!agent.session.surface.nodes.includes(event.seq));
  rest();
  const again = await callTool(loop, agent, 'compact_turn', { turn: 1 });
  assert.match(again.text, /^Error: ALREADY_REPLACED: turn 1 /);
  const { text } = await callTool(loop, agent, 'expand_turn', { turn: 1, mode: 'raw' });
  assert.match(text, /^### User\nLook\.\n[^]*needle-a/);
  rest();
});

test('two writers never: a summary that is ready during a fold lands after it', async (t) => {
  const gate = Promise.withResolvers();
  const order = [];
  const { loop, agent, rest } = await watched(t, {
    rows: { prune: { enabled: false } },
    gate: async ({ lane }) => {
      if (lane === 'summary') await gate.promise;
      if (lane !== 'report') return;
      gate.resolve();
      await sleep(60);
      order.push('report');
    },
    main: [
      act([read('r1', 'a')]), act([read('r2', 'b')]), say('Read.'),
      act([call('cp', 'checkpoint', { objective: 'look' })]), act([read('r3', 'c')]), act([read('r4', 'd')]),
      act([call('rw', 'rewind')]), say('Folded.'),
    ],
  });
  loop.ctx.on('session/event', (_session, { type, data }) => {
    if (type === 'user/message' && data.source.plugin === 'turn-memory') order.push(`checkpoint ${data.source.turn}`);
    if (type === 'user/message' && data.source.plugin === 'rewind') order.push('fold');
  });
  await agent.prompt('Read.');
  await until(() => loop.adapter.of('summary').length === 1, 'the summary');
  await agent.prompt('Look.');
  await landed(agent, 1);
  await landed(agent, 2);
  assert.deepEqual(order.slice(0, 3), ['report', 'fold', 'checkpoint 1']);
  assert.match(agent.results().find(({ callId }) => callId === 'rw').text, /^Folded /);
  rest();
});

test('N5: a turn that swallowed a fold and receipts, and was swallowed itself, is told in order, once', async (t) => {
  const { loop, agent, rest } = await watched(t, {
    rows: { compaction: { auto: false, retainTokens: 20 }, prune: { ...RECEIPTS, neverPruneTools: ['read'] } },
    steps: { summary: always(accounts((id) => `Account of part ${id}. ${'It went on. '.repeat(60)}`)) },
    main: [
      act([read('r1', 'a')]), act([call('cp', 'checkpoint', { objective: 'look' })]), act([read('r2', 'b')]),
      act([read('r3', 'c'), read('r4', 'a')]), act([call('rw', 'rewind')]), act([read('r5', 'd')]), say('The first.'),
      say('I am sure of it.'),
    ],
  });
  await agent.prompt('Look.');
  await landed(agent, 1);
  await agent.prompt('Are you sure?');
  await loop.ctx.compaction.compactNow(agent.agent, new AbortController().signal);
  const kinds = edits(agent);
  const wanted = ['rewind-prune', 'rewind', 'turn-memory', 'compact'];
  assert.deepEqual(wanted.filter((kind) => !kinds.includes(kind)), [], kinds.join());
  const { text } = await callTool(loop, agent, 'expand_turn', { turn: 1, mode: 'raw' });
  const calls = [...text.matchAll(/^### Tool call: (.*)\nargs: (.*)$/gm)].map(([, name, args]) => `${name} ${args}`);
  assert.deepEqual(calls, [
    'read {"path":"a"}', 'checkpoint {"objective":"look"}', 'read {"path":"b"}', 'read {"path":"c"}',
    'read {"path":"a"}', 'rewind {}', 'read {"path":"d"}',
  ]);
  const needles = [...text.matchAll(/needle-(\w)/g)].map(([, name]) => name);
  assert.deepEqual(needles, ['a', 'b', 'c', 'a', 'd']);
  assert.doesNotMatch(text, /turn-summary|rewind report|deterministic receipt|compacted-summary/);
  rest();
});
