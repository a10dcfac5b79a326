/** A person's words stay, or are quoted word for word (docs/rewind.md 1.6). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { act, call, say } from '../support/script.js';
import { OUTPUT, REPORT, image, sceneOf } from './scene.js';

const kindsOf = (scene) => scene.nodes().map(({ type, data }) =>
  (type === 'user/message' ? data.source.plugin ?? data.source.kind : type));

test('T2: steering between two steps stays in its place, and an earlier segment becomes a pointer', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.mark();
  const one = scene.look('c1');
  const steer = scene.person('Never push to main.');
  const two = scene.look('c2');
  scene.rewind();
  const { foldedNodes, start, end } = await scene.fold();
  assert.deepEqual([foldedNodes, start, end], [4, one[0], two[1]]);
  assert.deepEqual(kindsOf(scene), [
    'user', 'assistant/message', 'tool/result', 'rewind-pointer', 'user', 'rewind', 'assistant/message',
  ]);
  const [, , , pointer, kept] = scene.nodes();
  assert.equal(kept, scene.session.events[steer]);
  assert.deepEqual(pointer.sourceEventSeqs, one);
  assert.deepEqual(pointer.data.source, { kind: 'plugin', plugin: 'rewind-pointer', markId: 1 });
  assert.match(scene.words(pointer.seq), /^\[[^\n]*mark 1[^\n]*below[^\n]*\]$/);
  assert.deepEqual(scene.report().sourceEventSeqs, two);
});

test('every segment but the last is a pointer; prompts at either end split nothing off', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.mark();
  scene.person('first');
  scene.look('c1');
  scene.person('second');
  scene.person('third');
  scene.look('c2');
  scene.person('fourth');
  scene.look('c3');
  scene.person('last');
  scene.rewind();
  await scene.fold();
  assert.deepEqual(kindsOf(scene).slice(3, -1), [
    'user', 'rewind-pointer', 'user', 'user', 'rewind-pointer', 'user', 'rewind', 'user',
  ]);
});

test('a checkpoint of turn-memory is kept like the words in it', async (t) => {
  const scene = await sceneOf(t);
  scene.mark();
  scene.look('c1');
  const memory = scene.plugin('turn-memory', 'The person said: keep it small.', { scope: 'whole-turn', turn: 1, version: 5 });
  scene.look('c2');
  scene.rewind();
  await scene.fold();
  assert.ok(scene.session.surface.nodes.includes(memory));
  assert.deepEqual(kindsOf(scene).slice(2, -1), ['rewind-pointer', 'turn-memory', 'rewind']);
});

/** A person and a turn-memory checkpoint speak while two calls are open. */
async function insidePair(t, options = {}) {
  const scene = await sceneOf(t, { invariants: false, ...options });
  scene.person('find the port');
  scene.mark();
  scene.says({ t: 'two at once', calls: [['a', 'read', '{}'], ['b', 'read', '{}']] });
  scene.result('a');
  return scene;
}

const NASTY = 'Keep  two spaces\n</report> and "> this"\n\n# not a heading\n\ud83d lone\u2028line\r\nend 🔬 ';

test('L3: inside an open pair the words fold with it, quoted in the report and kept in its source', async (t) => {
  const scene = await insidePair(t);
  const steer = scene.person(NASTY, image('shot.png'), image(undefined, 'image/webp'));
  const memory = scene.plugin('turn-memory', 'They also want tests.', { scope: 'whole-turn', turn: 1, version: 5 });
  scene.result('b');
  scene.rewind();
  await scene.fold();
  const report = scene.report();
  assert.ok(report.sourceEventSeqs.includes(steer) && report.sourceEventSeqs.includes(memory));
  const body = scene.words(report.seq);
  const quotes = ['[image: shot.png, image/png]', '[image: unnamed, image/webp]', ...NASTY.split('\n')];
  assert.ok(body.includes(quotes.map((line) => `> ${line}`).join('\n')), body);
  assert.ok(body.includes('\n> They also want tests.'));
  const before = body.slice(0, body.indexOf('> [image: shot.png')).trimEnd().split('\n').at(-1);
  assert.match(before, /^## /, 'the words stand under a heading of their own');
  assert.ok(body.indexOf(REPORT) < body.indexOf(before));
  const kept = JSON.stringify(report.data.source);
  assert.ok(kept.includes(JSON.stringify(NASTY).slice(1, -1)) && kept.includes('They also want tests.'));
});

test('a later fold over that report carries the words on, word for word, and again after a reload', async (t) => {
  const scene = await insidePair(t, { report: [say(REPORT), say('Second report.'), say('Third report.')] });
  scene.person(NASTY);
  scene.result('b');
  const outer = { id: 9, logLength: scene.provider.mark.logLength, callId: 'cp' };
  scene.rewind();
  await scene.fold();
  scene.result('rw', 'folded');
  scene.look('c2', OUTPUT.repeat(2));
  // An older mark, as one that somebody set outside the log: its region holds the report.
  scene.provider.mark = outer;
  scene.rewind();
  await scene.fold();
  const quoted = NASTY.split('\n').map((line) => `> ${line}`).join('\n');
  const second = scene.report();
  assert.equal(second.data.source.markId, 9);
  assert.equal(scene.words(second.seq).split(quoted).length, 2, 'quoted once');

  scene.result('rw', 'folded');
  scene.provider.mark = { id: 10, logLength: outer.logLength, callId: 'cp' };
  scene.look('c3', OUTPUT.repeat(2));
  scene.rewind();
  await scene.fold();
  assert.equal(scene.words(scene.report().seq).split(quoted).length, 2);
  assert.ok(JSON.stringify(scene.report().data.source).includes(JSON.stringify(NASTY).slice(1, -1)));
});

test('a person between the last answer and the rewind call is not touched', async (t) => {
  const scene = await sceneOf(t);
  scene.mark();
  scene.look('c1');
  const late = scene.person('also check b.rs');
  scene.rewind();
  await scene.fold();
  assert.deepEqual(kindsOf(scene).slice(2), ['rewind', 'user', 'assistant/message']);
  assert.ok(scene.session.surface.nodes.includes(late));
});

test('P4: what lands is text alone, whatever stood last in a segment', async (t) => {
  const scene = await sceneOf(t);
  scene.mark();
  scene.look('c1');
  scene.person('go on');
  scene.look('c2');
  scene.rewind();
  await scene.fold();
  const landed = scene.nodes().filter(({ surfaceOp }) => surfaceOp !== 'append');
  assert.equal(landed.length, 2);
  for (const { data } of landed) assert.deepEqual(data.content.map(({ type }) => type), ['text']);
});

test('words that come in the middle of a real turn are still there in the next request', async (t) => {
  const scene = await sceneOf(t, {
    steps: {
      main: [
        act(call('cp', 'checkpoint')), act(call('c1', 'read')), act(call('c2', 'read')), act(call('rw', 'rewind')), say('done'),
      ],
      report: [say(REPORT)],
    },
    gate: ({ lane, index }) => {
      if (lane === 'main' && index === 2) agent.steer('only in staging!');
    },
  });
  const { defineTool } = await import('@deepseek-ai/dsh-tools');
  const tool = (name, execute) => defineTool({
    name,
    description: `The ${name} tool.`,
    parameters: {},
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    execute,
  });
  scene.ctx.tools.register(tool('read', () => OUTPUT));
  scene.ctx.tools.register(tool('checkpoint', (_args, { agent: { session }, callId }) => {
    scene.provider.mark = { id: 1, logLength: session.seq, callId };
    return 'marked';
  }));
  const agent = await scene.loop.agent();
  await agent.prompt('deploy');
  assert.deepEqual(scene.loop.rejected, []);
  const last = JSON.stringify(scene.loop.adapter.of('main').at(-1).messages);
  assert.match(last, /only in staging!/);
  assert.ok(!last.includes('nobody needs afterwards'));
});
