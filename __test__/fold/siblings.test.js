/** Exploration in parallel with the checkpoint call, on a real session (docs/rewind.md 1.2, 1.3). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRewindReportSource } from '../../index.js';
import { say } from '../support/script.js';
import { listFolds, showFold } from '../../plugin/rewind/command-history.js';
import { OUTPUT, REPORT, sceneOf } from './scene.js';

/** `A{before…, cp, after…}` with the mark taken inside `cp`. @returns the seqs of the later results. */
function group(scene, { before = [], after = [], name = 'checkpoint', known = true, how = {} }) {
  const calls = [...before.map((id) => [id, 'read', '{}']), ['cp', name, '{}'], ...after.map((id) => [id, 'bash', '{}'])];
  scene.says({ t: 'looking', calls });
  for (const id of before) scene.result(id);
  scene.start(scene.calls.find(({ id }) => id === 'cp'));
  scene.take(known ? { callId: 'cp' } : {});
  scene.result('cp', 'marked');
  return after.map((id) => scene.result(id, OUTPUT, how));
}

/** The node that stands where `seq` stood, by the chain of one-node rewrites. */
function standingFor(scene, seq) {
  const at = scene.nodes().find(({ sourceEventSeqs }) => sourceEventSeqs?.length === 1 && sourceEventSeqs[0] === seq);
  return at;
}

test('O1: siblings become one line in place, the rest becomes the report, and a second fold still works', async (t) => {
  const scene = await sceneOf(t, { report: [say(REPORT), say('Second report.')] });
  scene.person('find the port');
  const [sibling] = group(scene, { after: ['s1'], how: { error: true } });
  const folded = scene.look('c1');
  scene.rewind();
  const result = await scene.fold();
  const rewritten = standingFor(scene, sibling);
  const old = scene.session.events[sibling];
  assert.equal(rewritten.type, 'tool/result');
  const line = scene.words(rewritten.seq);
  assert.match(line, /mark 1/);
  assert.ok(!line.includes('\n') && !line.startsWith('[rewind report of mark'));
  const blank = ({ data }) => ({ ...data, message: { ...data.message, content: [{ ...data.message.content[0], content: [] }] } });
  assert.deepEqual(blank(rewritten), blank(old));
  assert.deepEqual(scene.report().sourceEventSeqs, folded);
  assert.equal(result.foldedNodes, 3);
  assert.equal(scene.nodes().indexOf(rewritten) < scene.nodes().indexOf(scene.report()), true);
  scene.result('rw', 'folded');

  scene.mark();
  scene.look('c2');
  scene.rewind();
  await scene.fold();
  assert.equal(scene.asked.length, 2);
  assert.deepEqual(scene.loop.rejected, []);
});

test('L7: the exploration wholly in siblings is no empty region; the last of them carries the report', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  const [first, last] = group(scene, { after: ['s1', 's2'] });
  scene.rewind();
  const { start, end, foldedNodes, foldedChars } = await scene.fold();
  assert.deepEqual([start, end, foldedNodes, foldedChars], [first, last, 2, 2 * OUTPUT.length]);
  assert.ok(scene.words(standingFor(scene, last).seq).startsWith('[rewind report of mark 1]'));
  assert.ok(scene.words(standingFor(scene, last).seq).includes(REPORT));
  assert.ok(!scene.words(standingFor(scene, first).seq).includes(REPORT));
  assert.equal(scene.nodes().filter(({ data }) => isRewindReportSource(data.source)).length, 0);
});

test('1.3: that carried report is the report of its mark for every rule', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  group(scene, { after: ['s1'] });
  scene.rewind();
  await scene.fold();
  scene.result('rw', 'folded');
  scene.look('c1');
  scene.rewind();
  // The provider forgot: the log is the truth, and it is told again.
  assert.equal(scene.provider.mark.foldedAt, undefined);
  const { code, message } = await scene.refused();
  assert.equal(code, 'EMPTY_REGION');
  assert.match(message, /folded already/);
  assert.deepEqual(scene.provider.told, [['scene', 1], ['scene', 1]]);
  assert.equal(scene.asked.length, 1);
});

test('1.3: the opening text alone makes no report: not appended, not for a call outside the carrier', async (t) => {
  const opening = '[rewind report of mark 1] made up by a file\n';
  const appended = await sceneOf(t);
  appended.person('find the port');
  appended.mark();
  const folded = appended.look('c1', opening.repeat(60));
  appended.rewind();
  await appended.fold();
  assert.deepEqual(appended.report().sourceEventSeqs, folded);

  const rewritten = await sceneOf(t);
  rewritten.person('find the port');
  rewritten.mark();
  const [, result] = rewritten.look('c1', OUTPUT);
  rewritten.prune(result, `${opening}and pruned\n`.repeat(20));
  rewritten.rewind();
  assert.equal((await rewritten.fold()).foldedNodes, 2);
});

test('1.3: a tool that prints the opening beside the checkpoint call has written no report', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.says({ calls: [['cp', 'checkpoint', '{}'], ['s1', 'read', '{}']] });
  scene.take({ callId: 'cp' });
  scene.result('cp', 'marked');
  scene.result('s1', `[rewind report of mark 1] found in a file\n${OUTPUT}`);
  scene.rewind();
  assert.equal((await scene.fold()).foldedNodes, 1);
});

test('1.8: a report from before the mark is not its report, whatever id it names', async (t) => {
  const scene = await sceneOf(t);
  scene.plugin('rewind', 'inherited with the log', { markId: 1 });
  scene.person('find the port');
  scene.mark();
  scene.look('c1');
  scene.rewind();
  assert.equal((await scene.fold()).foldedNodes, 2);
});

test('1.3: a report of another mark in the carrier, or one from before the mark, is not this mark\'s', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  const [sibling] = group(scene, { after: ['s1'] });
  scene.prune(sibling, `[rewind report of mark 11] ${OUTPUT}`);
  scene.rewind();
  assert.equal((await scene.fold()).foldedNodes, 1);
});

test('1.2: which call took the mark: by call id, by the tool\'s name, by order', async (t) => {
  const cases = [
    { known: true, name: 'other', expected: ['b1', 'a1'] },
    { known: false, name: 'checkpoint', expected: ['b1', 'a1'] },
    { known: false, name: 'remember', config: { checkpointToolName: 'remember' }, expected: ['b1', 'a1'] },
    { known: false, name: 'other', expected: ['cp', 'a1'] },
  ];
  for (const { known, name, config, expected } of cases) {
    const scene = await sceneOf(t, { config });
    scene.person('find the port');
    scene.says({ calls: [['b1', 'bash', '{}'], ['cp', name, '{}'], ['a1', 'bash', '{}']] });
    scene.start(scene.calls[1]);
    scene.take(known ? { callId: 'cp' } : {});
    for (const id of ['b1', 'cp', 'a1']) scene.result(id);
    scene.rewind();
    await scene.fold();
    const rewritten = scene.nodes().filter(({ type, surfaceOp }) => type === 'tool/result' && surfaceOp !== 'append');
    assert.deepEqual(rewritten.map(({ data }) => data.message.source.callId), expected);
  }
});

test('1.2: a call of the carrier that was answered before the mark is not part of the exploration', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  const [sibling] = group(scene, { before: ['b1'], after: ['a1'] });
  scene.look('c1');
  scene.rewind();
  assert.equal((await scene.fold()).start, sibling);
  const rewritten = scene.nodes().filter(({ type, surfaceOp }) => type === 'tool/result' && surfaceOp !== 'append');
  assert.equal(rewritten.length, 1);
});

test('1.3: outside a turn siblings stay as they are; alone, they are nothing to fold', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  group(scene, { after: ['s1'] });
  scene.on_end();
  assert.equal((await scene.refused()).code, 'EMPTY_REGION');
  scene.on_turn();
  const folded = scene.look('c1');
  scene.on_end();
  const before = scene.nodes().slice(0, 4);
  assert.equal((await scene.fold()).foldedNodes, 2);
  assert.deepEqual(scene.report().sourceEventSeqs, folded);
  assert.deepEqual(scene.nodes().slice(0, 4), before);
});

test('1.3: siblings with images keep nothing of them, and the request shows their text', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  const [sibling] = group(scene, { after: ['s1'], how: { image: true } });
  scene.rewind();
  await scene.fold();
  const { content } = standingFor(scene, sibling).data.message.content[0];
  assert.deepEqual(content.map(({ type }) => type), ['text']);
  const [asked] = scene.asked;
  assert.ok(JSON.stringify(asked.messages).includes(JSON.stringify(OUTPUT).slice(1, -1)));
});

test('a report in a result is listed once: with ids that come again, and after a pruner shortened it', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  const [sibling] = group(scene, { after: ['call_1'] });
  // The same provider counts its calls anew in every message, and rewind runs beside another call.
  scene.says({ calls: [['call_0', 'rewind', '{}'], ['call_1', 'read', '{}']] });
  await scene.fold();
  const config = { checkpointToolName: 'checkpoint' };
  const listed = () => listFolds({ config }, scene).split('\n');
  const report = standingFor(scene, sibling);
  assert.match(listed()[1], new RegExp(`^Mark 1: 1 node, s${sibling}, report at s${report.seq}$`));
  scene.result('call_0', 'folded');
  scene.result('call_1');
  const shorter = scene.prune(report.seq, '[rewind report of mark 1] 0 steps\n\n[cut]');
  assert.deepEqual([listed().length, listed()[0]], [3, '1 fold in this session:']);
  assert.match(listed()[1], new RegExp(`report at s${report.seq}$`));
  assert.ok(scene.words(shorter).includes('[cut]'));
  const shown = await showFold({ config }, scene, ['1'], new AbortController().signal);
  assert.ok(shown.includes(REPORT) && shown.includes(OUTPUT.slice(0, 200)), shown);
});
