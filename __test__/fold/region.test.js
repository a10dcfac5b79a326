/** What a fold takes from a real session, and what it counts (docs/rewind.md 1.1, 1.2, 1.4, 1.5, 1.7 to 1.9). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OUTPUT, sceneOf } from './scene.js';

/** The seqs that the fold shadowed, by the log. */
const shadowed = (scene) => scene.report().sourceEventSeqs;

test('1.2, C5: the checkpoint pair stays untouched and the rewind call too', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.mark();
  const folded = scene.look('c1');
  scene.rewind();
  const before = scene.nodes();
  const { start, end, foldedNodes } = await scene.fold();
  assert.deepEqual([start, end, foldedNodes], [folded[0], folded[1], 2]);
  const after = scene.nodes();
  assert.deepEqual([...after.slice(0, 3), after[4]], [...before.slice(0, 3), before[5]]);
  assert.equal(after[3], scene.report());
});

test('1.1: an old result that was pruned has a new seq and is still before the mark', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  const [, old] = scene.look('c0');
  scene.mark();
  const folded = scene.look('c1');
  const pruned = scene.prune(old, 'short');
  assert.ok(pruned > folded[1]);
  scene.rewind();
  await scene.fold();
  assert.deepEqual(shadowed(scene), folded);
  assert.ok(scene.session.surface.nodes.includes(pruned));
});

test('1.1: a pruned result of a pruned result is followed down to what it was', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  const [, old] = scene.look('c0');
  scene.mark();
  const [call, result] = scene.look('c1');
  scene.prune(scene.prune(old, 'shorter'), 'short');
  const inside = scene.prune(scene.prune(result, 'also shorter'), 'also short, but young');
  scene.rewind();
  await scene.fold();
  assert.deepEqual(shadowed(scene), [call, inside]);
});

test('1.1: a summary of older history, and one that straddles the mark, stay where they are', async (t) => {
  for (const straddles of [false, true]) {
    const scene = await sceneOf(t);
    const first = scene.person('use port 7777, never touch prod');
    const [, old] = scene.look('c0');
    scene.mark();
    const [one, two] = [scene.look('c1'), scene.look('c2')];
    const summary = scene.compact(first, straddles ? one[1] : old, 'summary');
    scene.rewind();
    await scene.fold();
    assert.equal(scene.session.surface.nodes[0], summary);
    assert.deepEqual(shadowed(scene), straddles ? two : [...one, ...two]);
  }
});

test('1.1: a summary wholly inside the exploration folds like anything else', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.mark();
  const [first] = scene.look('c1');
  const [, last] = scene.look('c2');
  const next = scene.look('c3');
  const summary = scene.compact(first, last, OUTPUT);
  scene.rewind();
  const { start } = await scene.fold();
  assert.equal(start, summary);
  assert.deepEqual(shadowed(scene), [summary, ...next]);
});

test('1.2: a mark that was taken while no call was open starts right there', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.look('c0');
  scene.take();
  const folded = scene.look('c1');
  scene.rewind();
  await scene.fold();
  assert.deepEqual(shadowed(scene), folded);
});

test('1.4, L5: siblings of the rewind call are not folded, and their results may still come', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.mark();
  const folded = scene.look('c1');
  scene.says({ calls: [['c2', 'read', '{}'], ['rw', 'rewind', '{}'], ['c3', 'read', '{}']] });
  const answered = scene.result('c2');
  await scene.fold();
  scene.result('rw', 'folded');
  scene.result('c3');
  assert.deepEqual(shadowed(scene), folded);
  assert.ok(scene.session.surface.nodes.includes(answered));
});

test('1.4, O4: asked for by code, the fold takes the last answer too', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.mark();
  const folded = [...scene.look('c1'), scene.says({ t: 'The port is 7777.' })];
  scene.on_end();
  const { end } = await scene.fold();
  assert.deepEqual(shadowed(scene), folded);
  assert.equal(end, folded[2]);
});

test('1.5, D1: ids used again pair by occurrence', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.look('call_0');
  scene.mark();
  const folded = [scene.look('call_0'), scene.look('call_0')].flat();
  scene.says({ calls: [['call_0', 'rewind', '{}']] });
  await scene.fold();
  assert.deepEqual(shadowed(scene), folded);
});

test('1.5, P2: a call whose result never came ends the region and stays visible', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.mark();
  const folded = scene.look('c1');
  const lost = scene.says({ t: 'next', calls: [['c2', 'bash', '{}']] });
  scene.person('go on');
  scene.rewind();
  const { foldedNodes } = await scene.fold();
  assert.equal(foldedNodes, 2);
  assert.deepEqual(shadowed(scene), folded);
  assert.ok(scene.session.surface.nodes.includes(lost));
  assert.deepEqual(scene.loop.rejected, []);
});

test('1.5: a result without its call, a second result, an open call first: UNBALANCED, naming the seq', async (t) => {
  const cases = {
    orphan: (scene) => scene.result('nobody'),
    second: (scene) => scene.result('c1'),
  };
  for (const [name, stray] of Object.entries(cases)) {
    const scene = await sceneOf(t, { invariants: false });
    scene.person('find the port');
    scene.mark();
    scene.look('c1');
    scene.calls = [{ id: name === 'orphan' ? 'nobody' : 'c1', name: 'read', args: '{}', started: false }];
    const seq = stray(scene);
    scene.look('c2');
    scene.rewind();
    const { code, message } = await scene.refused();
    assert.equal(code, 'UNBALANCED');
    assert.match(message, new RegExp(`seq ${seq}\\b`));
    assert.equal(scene.asked.length, 0);
  }
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.mark();
  scene.person('wait');
  const lost = scene.says({ calls: [['c1', 'bash', '{}']] });
  scene.look('c2');
  scene.rewind();
  const { code, message } = await scene.refused();
  assert.equal(code, 'UNBALANCED');
  assert.match(message, new RegExp(`seq ${lost}\\b`));
});

test('1.2, 1.5: a late result of a call that died before the mark\'s own message is an orphan, wherever that message is', async (t) => {
  for (const taken of ['before the mark', 'after it']) {
    const scene = await sceneOf(t, { invariants: false });
    scene.person('find the port');
    scene.says({ calls: [['dead', 'bash', '{}'], ['cp', 'checkpoint', '{}']] });
    const [call, answered] = scene.look('c0');
    if (taken === 'before the mark') scene.compact(call, answered, 'looked once');
    scene.take();
    if (taken === 'after it') scene.compact(call, answered, 'looked once');
    scene.calls = [{ id: 'dead', name: 'bash', args: '{}', started: false }];
    const seq = scene.result('dead');
    scene.look('c1');
    scene.rewind();
    const { code, message } = await scene.refused();
    assert.equal(code, 'UNBALANCED', taken);
    assert.match(message, new RegExp(`seq ${seq}\\b`));
  }
});

test('1.7: injected messages, guard warnings and older reports fold, and every shadowed seq is cited', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  const context = scene.plugin('runtime-context', 'branch main\n'.repeat(30));
  scene.mark();
  const folded = [
    ...scene.look('c1'), scene.plugin('runtime-context', 'branch main\n'.repeat(30)),
    scene.plugin('rewind-guard', 'still to be folded'), ...scene.look('c2'),
    scene.plugin('rewind', 'an older report', { markId: 77 }), scene.plugin('agent-instructions', 'be brief'),
  ];
  scene.rewind();
  await scene.fold();
  assert.deepEqual(shadowed(scene), folded);
  assert.ok(scene.session.surface.nodes.includes(context));
});

test('1.9, K1: every text that the model reads counts, and nothing else', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.mark();
  scene.says({ r: 'x'.repeat(500), t: 'y'.repeat(20), calls: [['c1', 'write', JSON.stringify({ content: 'y'.repeat(4000) })]] });
  scene.result('c1', 'z'.repeat(3000), { blocks: ['w'.repeat(10)], image: true });
  scene.says({ calls: [['c2', 'read', ''], ['c3', 'read', '{'], ['c4', 'read', '[1,2']] });
  for (const id of ['c2', 'c3', 'c4']) scene.result(id, 'a\ud83d 文字🔬\u0000');
  scene.rewind();
  const { foldedChars } = await scene.fold();
  assert.equal(foldedChars, 500 + 20 + JSON.stringify({ content: 'y'.repeat(4000) }).length + 3010 + 5 + 3 * 8);
});

test('1.9: edges and counts take in rewritten siblings, in surface order', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.says({ calls: [['cp', 'checkpoint', '{}'], ['s1', 'read', '{}']] });
  scene.take({ callId: 'cp' });
  scene.result('cp', 'marked');
  const sibling = scene.result('s1', 'q'.repeat(700));
  const [call, result] = scene.look('c1', 'r'.repeat(900));
  const pruned = scene.prune(result, 'r'.repeat(300));
  scene.rewind();
  const folded = await scene.fold();
  assert.deepEqual(
    [folded.start, folded.end, folded.foldedNodes, folded.foldedChars],
    [sibling, pruned, 3, 700 + 'step c1'.length + '{"path":"a"}'.length + 300],
  );
  assert.ok(call < pruned);
});
