/** Marks, surfaces and answers that nobody should send (issue "Bad input"; docs/rewind.md 1.8). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { say } from '../support/script.js';
import { REPORT, sceneOf } from './scene.js';

async function explored(t, options) {
  const scene = await sceneOf(t, options);
  scene.person('find the port');
  scene.mark();
  scene.look('c1');
  scene.rewind();
  return scene;
}

const LENGTHS = {
  'beyond the log': [(length) => length + 1, /logLength is \d+/],
  'far beyond it': [() => 2 ** 53, /9007199254740992/],
  'negative': [() => -1, /-1/],
  'a fraction': [() => 1.5, /1\.5/],
  'NaN': [() => NaN, /NaN/],
  'Infinity': [() => Infinity, /Infinity/],
  'missing': [() => undefined, /undefined/],
  'null': [() => null, /null/],
  'a text': [() => '3', /3/],
  'no number at all': [() => 'abc', /abc/],
  'a bigint': [() => 3n, /3/],
  'a truth': [() => true, /true/],
  'a list': [() => [3], /3/],
  'an object': [() => ({}), /object/],
  'an object without a prototype': [() => Object.create(null), /./],
  'a symbol': [() => Symbol('here'), /here/],
};

for (const [name, [value, words]] of Object.entries(LENGTHS)) {
  test(`a mark whose logLength is ${name}`, async (t) => {
    const scene = await explored(t);
    scene.provider.mark = { ...scene.provider.mark, logLength: value(scene.session.seq) };
    const { code, message, name: kind } = await scene.refused();
    assert.deepEqual([code, kind], ['EMPTY_REGION', 'RewindError']);
    assert.match(message, words);
    assert.match(message, /fresh checkpoint/);
    assert.equal(scene.asked.length, 0);
  });
}

test('a mark at either end of the log is one of this session', async (t) => {
  const first = await explored(t);
  first.provider.mark = { id: 1, logLength: 0 };
  // The prompt stays, so the pair of the checkpoint call folds with the rest.
  assert.equal((await first.fold()).foldedNodes, 4);
  const last = await explored(t);
  last.provider.mark = { id: 1, logLength: last.session.seq };
  assert.match((await last.refused()).message, /Nothing to fold/);
});

test('what is no mark at all', async (t) => {
  for (const mark of [0, 1, 'mark', true, {}, [], () => {}]) {
    const scene = await explored(t);
    scene.provider.mark = mark;
    const { code, name } = await scene.refused();
    assert.deepEqual([code, name], ['EMPTY_REGION', 'RewindError'], String(mark));
  }
  for (const mark of [undefined, null]) {
    const scene = await explored(t);
    scene.provider.mark = mark;
    assert.equal((await scene.refused()).code, 'NO_CHECKPOINT');
  }
});

test('a mark without an id that a report could carry', async (t) => {
  for (const id of [undefined, null, NaN, 1.5, {}, [1], '', 'two\nlines', true, Symbol('x')]) {
    const scene = await explored(t);
    scene.provider.mark = { ...scene.provider.mark, id };
    const { code, name, message } = await scene.refused();
    assert.deepEqual([code, name], ['EMPTY_REGION', 'RewindError'], String(id));
    assert.match(message, /id/);
  }
});

test('ids of any honest form work, and a mark folded under one is known by it', async (t) => {
  for (const id of [0, 7, 'm-7', '007', '7', 'a]b', '标记', '12345678901234567890', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6']) {
    for (const carried of [false, true]) {
      const scene = await sceneOf(t);
      scene.person('find the port');
      scene.says({ calls: [['cp', 'checkpoint', '{}'], ['s1', 'read', '{}']] });
      scene.take({ id, callId: 'cp' });
      scene.result('cp', 'marked');
      scene.result('s1');
      if (!carried) scene.look('c1');
      scene.rewind();
      assert.equal((await scene.fold()).markId, id);
      scene.result('rw', 'folded');
      scene.look('c2');
      scene.rewind();
      const { code, message } = await scene.refused();
      assert.equal(code, 'EMPTY_REGION', `mark ${id}`);
      assert.match(message, /folded already/, `mark ${id}`);
    }
  }
});

test('a mark of another session is refused by what it says', async (t) => {
  const scene = await explored(t);
  scene.provider.mark = { ...scene.provider.mark, sessionId: 'another' };
  const { code, message } = await scene.refused();
  assert.equal(code, 'EMPTY_REGION');
  assert.match(message, /another/);
  scene.provider.mark = { ...scene.provider.mark, sessionId: 'scene' };
  assert.equal((await scene.fold()).foldedNodes, 2);
});

test('a callId or an objective of the wrong kind is as good as none', async (t) => {
  for (const more of [{ callId: 5 }, { callId: null }, { callId: {} }, { callId: 'nobody' }, { objective: 5 }, { objective: null }, { objective: {} }]) {
    const scene = await explored(t);
    scene.provider.mark = { ...scene.provider.mark, ...more };
    assert.equal((await scene.fold()).foldedNodes, 2);
  }
});

/** The session as the fold sees it, with a surface that its log does not bear out. */
function corrupted(scene, nodes, events) {
  const { session } = scene;
  const fake = Object.create(session, {
    surface: { get: () => ({ ...session.surface, nodes: nodes(session.surface.nodes.slice()) }) },
    ...(events ? { events: { get: () => events(session.events.slice()) } } : {}),
  });
  return { ...scene.agent, session: fake };
}

const SURFACES = {
  'a node beyond the log': [(nodes) => [...nodes.slice(0, -1), 99_999, nodes.at(-1)], 99_999],
  'a node that is no message': [(nodes) => [...nodes.slice(0, -1), 0, nodes.at(-1)], 0],
  'a node twice': [(nodes) => [...nodes.slice(0, -1), nodes.at(-2), nodes.at(-1)]],
  'an event under another seq': [(nodes) => nodes, undefined, (events) => {
    const at = events.findLastIndex(({ type }) => type === 'tool/result');
    events[at] = { ...events[at], seq: at - 4 };
    return events;
  }],
  'a result without content': [(nodes) => nodes, undefined, (events) => {
    const at = events.findLastIndex(({ type }) => type === 'tool/result');
    events[at] = { ...events[at], data: { ...events[at].data, message: { role: 'user' } } };
    return events;
  }],
  'a message that is none': [(nodes) => nodes, undefined, (events) => {
    const at = events.findLastIndex(({ type, data }) => type === 'assistant/message' && data.message.content.length > 1);
    events[at] = { ...events[at], data: {} };
    return events;
  }],
};

for (const [name, [nodes, seq, events]] of Object.entries(SURFACES)) {
  test(`a corrupt surface: ${name}`, async (t) => {
    const scene = await explored(t, { invariants: false });
    scene.agent = corrupted(scene, nodes, events);
    const { code, message } = await scene.refused();
    assert.equal(code, 'UNBALANCED');
    assert.match(message, seq === undefined ? /seq \d+/ : new RegExp(`seq ${seq}\\b`));
    assert.equal(scene.asked.length, 0);
  });
}

/** A model whose stream is whatever the test says. */
async function streaming(t, chunks) {
  const scene = await explored(t);
  scene.ctx.llm.stream = (options) => chunks(options);
  return scene;
}

const text = (words) => [
  { type: 'block-start', index: 0, blockType: 'text' }, { type: 'text-delta', index: 0, text: words },
  { type: 'block-end', index: 0, block: { type: 'text', text: words } },
];
const from = (chunks) => async function* stream() {
  yield* chunks;
};

const STREAMS = {
  'ends at once': from([]),
  'ends without a finish': from(text(REPORT)),
  'chunks that are none': from([null, 5, 'x']),
  'a finish without a reason': from([...text(REPORT), { type: 'finish' }]),
  'an unknown reason': from([...text(REPORT), { type: 'finish', reason: { kind: 'tired' } }]),
  'a block of no type': from([{ type: 'block-end', index: 0, block: {} }, { type: 'finish', reason: { kind: 'stop' } }]),
  'throws nothing': async function* stream() {
    yield* text('half');
    throw undefined;
  },
  'throws a word': async function* stream() {
    yield* text('half');
    throw 'gone';
  },
  'cannot be opened': () => {
    throw new Error('no stream');
  },
  'is no stream': () => undefined,
};

for (const [name, stream] of Object.entries(STREAMS)) {
  test(`a model that ${name}`, async (t) => {
    const scene = await streaming(t, stream);
    const { code, name: kind, message } = await scene.refused();
    assert.deepEqual([code, kind], ['SUMMARY_FAILED', 'RewindError'], message);
    assert.doesNotMatch(message, /\[object/);
  });
}

test('usage that is no number does not cost the report', async (t) => {
  for (const usage of [{ inputTokens: 'many', outputTokens: NaN }, { inputTokens: -1, outputTokens: 1.5 }, {}, null, 'x']) {
    const scene = await streaming(t, from([...text(REPORT), { type: 'usage', usage }, { type: 'finish', reason: { kind: 'stop' } }]));
    const { foldedNodes } = await scene.fold();
    assert.equal(foldedNodes, 2);
    assert.doesNotThrow(() => JSON.stringify(scene.report().data.source));
  }
});

test('U6: control characters and halves of characters survive the fold or are made whole, never lost', async (t) => {
  const scene = await explored(t, { report: [say('ELF\u0000\u0000 \u001b[31m \u2028 \ud83d end')] });
  await scene.fold();
  const words = scene.words(scene.report().seq);
  assert.ok(words.includes('ELF\u0000\u0000 \u001b[31m \u2028 \ufffd end'), JSON.stringify(words));
  assert.ok(words.isWellFormed());
});
