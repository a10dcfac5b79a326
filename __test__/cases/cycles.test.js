/** Cases 4 and 11: checkpoint and rewind in turn, repeats and nesting. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Session } from '@deepseek-ai/dsh-session';
import { call, scene } from './scene.js';

const LONG = 'a finding, told at length\n'.repeat(120);

test('C1: a mark folds by a rewind after it and by nothing else', async (t) => {
  const s = await scene(t);
  s.checkpoint('cp1').step('c1').RW();
  await s.fold();
  s.R('rw').checkpoint('cp2').step('c9').idle();
  assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), true);
  assert.equal(s.surface, 'A{cp1} R(cp1) REPORT1 A{rw} R(rw) A{cp2} R(cp2) A{c9} R(c9)');
  assert.equal((await s.fold()).markId, 2);
});

test('C2, O3: a second rewind without a new mark is EMPTY_REGION, the report stays', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1').RW();
  await s.fold();
  s.R('rw');
  for (const later of [() => s, () => s.step('c5'), () => s.idle()]) {
    later();
    const error = await s.refuse('EMPTY_REGION');
    assert.match(error.message, /checkpoint/);
  }
  assert.ok(s.surface.includes('REPORT1 A{rw} R(rw)'));
});

test('C3: a rewind right after the checkpoint is EMPTY_REGION, the mark can still fold', async (t) => {
  const s = await scene(t);
  s.checkpoint().RW();
  await s.refuse('EMPTY_REGION');
  s.R('rw').step('c1').RW();
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) REPORT1 A{rw}');
});

test('C3, beside: checkpoint and rewind in one message', async (t) => {
  const s = await scene(t);
  s.A({}, call('cp', 'checkpoint'), call('rw', 'rewind')).MARK(0).R('cp');
  await s.refuse('EMPTY_REGION');
  const sibling = await scene(t);
  sibling.A({}, call('cp', 'checkpoint'), call('c1'), call('rw', 'rewind')).MARK(0).R('cp').R('c1', LONG);
  await sibling.fold();
  assert.equal(sibling.surface, 'A{cp,c1,rw} R(cp) R(c1=REPORT1)');
  sibling.R('rw').assertWireValid();
});

test('C5: the pair of the checkpoint call stays visible', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1').RW();
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) REPORT1 A{rw}');
});

test('C6: a region whose length is in a tool output and in arguments folds, counted in full', async (t) => {
  const args = JSON.stringify({ command: 'x'.repeat(200 - 14) });
  const s = await scene(t);
  s.checkpoint()
    .A({}, call('c1', 'bash', args))
    .R('c1', 'y'.repeat(6000))
    .RW();
  const { foldedChars } = await s.fold();
  assert.equal(foldedChars, 200 + 6000);
});

test('C8: the report bears no turn of its own and the log loads in a plain harness', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1').RW();
  await s.fold();
  assert.deepEqual(
    ['turn', 'step'].filter((key) => key in s.report.data),
    [],
  );
  s.R('rw').idle().U('next').A({ t: 'ok' }).idle();
  const copy = Session.create('copy', JSON.parse(JSON.stringify(s.session.events)));
  assert.deepEqual(copy.deriveMessages(), s.session.deriveMessages());
});

test('N1: an older report in the region is text like any other, and each fold has to shrink', async (t) => {
  const s = await scene(t);
  s.play('mark', null).step('c1').RW();
  await s.fold();
  s.R('rw');
  const first = s.texts[0].length;
  // A provider of marks that lets one stand before the report: the whole of it is the exploration.
  s.stage.marks.push({ id: 2, logLength: 0 });
  s.step('c2').idle();
  const { foldedNodes, foldedChars, reportChars } = await s.fold();
  assert.equal(foldedNodes, 5);
  assert.ok(foldedChars > first && reportChars < foldedChars);
  assert.equal(s.surface, 'REPORT2');
});

test('N3: a region that cannot shrink is refused ten times alike, and the advice is to go on', async (t) => {
  const s = await scene(t);
  s.checkpoint()
    .A({}, call('c1', 'ls', '{}'))
    .R('c1', 'a.rs')
    .RW();
  for (let again = 0; again < 10; again += 1) {
    const error = await s.refuse('SHRINK', { planned: false });
    assert.match(error.message, /go on/);
  }
  assert.equal(s.requests.length, 10);
  assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), true);
});

test('N6: what the first fold wrote is still in the log after the second', async (t) => {
  const s = await scene(t);
  s.play('mark', null).step('c1').RW();
  await s.fold();
  const then = s.session.seq;
  const surface = [...s.session.surface.nodes];
  s.R('rw');
  s.stage.marks.push({ id: 2, logLength: 0 });
  s.step('c2').idle();
  await s.fold();
  const replayed = Session.create('then', s.session.events.slice(0, then));
  assert.deepEqual([...replayed.surface.nodes], surface);
});
