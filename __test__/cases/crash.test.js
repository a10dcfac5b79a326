/** Cases 10: crash, resume, fork. The crash of the real process is tried in the end-to-end tests. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Session } from '@deepseek-ai/dsh-session';
import { call, scene } from './scene.js';

const LONG = 'a line that somebody read\n'.repeat(100);
const copyOf = (events) => JSON.parse(JSON.stringify(events));

test('R1: after a crash between report and stamp the mark is stamped and nothing folds twice', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).RW();
  s.ctx.checkpoint.failures = 9;
  await s.fold();
  s.ctx.checkpoint.failures = 0;
  s.play('crash');
  assert.equal(await s.ctx.checkpoint.latestMark(s.session.id), undefined);
  s.U('go on').A({}, call('rw2', 'rewind'));
  await s.refuse('EMPTY_REGION');
  assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), false);
  s.assertWireValid();
});

test('R1, beside: of a report in a sibling the log is the truth too', async (t) => {
  const s = await scene(t);
  s.A({}, call('cp', 'checkpoint'), call('c1')).MARK(0).R('cp').R('c1', LONG).RW();
  s.ctx.checkpoint.failures = 9;
  await s.fold();
  s.ctx.checkpoint.failures = 0;
  s.play('crash').U('go on').step('c2', LONG).A({}, call('rw2', 'rewind'));
  await s.refuse('EMPTY_REGION');
  assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), false);
});

test('R2: a reloaded log gives the same messages, byte for byte', async (t) => {
  const s = await scene(t);
  s.U('task').A({}, call('cp', 'checkpoint'), call('c0')).MARK(0).R('cp').R('c0', LONG).step('c1', LONG);
  s.U('mind b').A({}, call('c2')).U('and c').R('c2', LONG).RW();
  await s.fold();
  s.R('rw').idle();
  const text = JSON.stringify(s.session.events);
  const again = Session.create('again', JSON.parse(text));
  assert.equal(JSON.stringify(again.deriveMessages()), JSON.stringify(s.session.deriveMessages()));
  assert.equal(JSON.stringify(again.events.slice(0, s.session.seq)), text);
});

test('R3: a log whose seqs run back is no seed, and read all the same it is refused', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).RW();
  const bend = (events) => events.map((event) => (event.seq < 7 ? event : { ...event, seq: event.seq - 4 }));
  assert.throws(() => Session.create('bent', copyOf(bend(s.session.events))), /contiguous/);
  const broken = Session.create('broken', copyOf(s.session.events));
  const length = broken.seq;
  const events = bend(broken.events);
  Object.defineProperty(broken, 'events', { value: events });
  s.ctx.checkpoint.stages.set(broken.id, s.stage);
  const { signal } = new AbortController();
  const error = await s.ctx.rewind.rewind(s.agent(broken), signal).catch((reason) => reason);
  assert.equal(error.code, 'UNBALANCED');
  assert.match(error.message, /seq 7\b/);
  assert.equal(broken.seq, length);
});

test('R4: the synthetic results of a crash are answers, and the span may hold them', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).A({}, call('c2', 'bash'), call('c3', 'bash'));
  s.stage.start(s.stage.calls[0]);
  s.play('crash').U('go on').A({}, call('rw', 'rewind'));
  s.stage.marks = [{ id: 1, logLength: s.mark.logLength, callId: 'cp' }];
  const { foldedNodes } = await s.fold();
  assert.equal(foldedNodes, 5);
  assert.equal(s.surface, 'A{cp} R(cp) REPORT1 U A{rw}');
});

test('R4, beside: a crash in the middle of the checkpoint call, its own result is synthetic', async (t) => {
  const s = await scene(t);
  s.A({}, call('cp', 'checkpoint')).MARK();
  s.play('crash').U('go on').step('c1', LONG).A({}, call('rw', 'rewind'));
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) U REPORT1 A{rw}');
});

test('R5: everything before the fold is the same events, and the log grows by the plan alone', async (t) => {
  for (const meter of [true, false]) {
    const s = await scene(t, { meter });
    s.U('task').checkpoint().step('c1', LONG).U('and b').step('c2', LONG).RW();
    const before = s.session.events;
    const text = JSON.stringify(before);
    await s.fold();
    assert.equal(JSON.stringify(s.session.events.slice(0, before.length)), text);
    const types = s.session.events.slice(before.length).map(({ type }) => type);
    const edit = meter ? ['compaction/prune', 'user/message'] : ['user/message'];
    assert.deepEqual(types, [...edit, ...edit]);
  }
});

test('R7: a fork whose provider knows no mark of it answers NO_CHECKPOINT', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).idle();
  const parent = s.session;
  s.play('fork').U('other way');
  s.stage.marks = [];
  await s.refuse('NO_CHECKPOINT');
  assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), false);
  assert.notEqual(s.session.id, parent.id);
});

test('R7, beside: a fork with a mark of its own under an id that the parent has folded', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).RW();
  await s.fold();
  s.R('rw').idle().play('fork').U('other way');
  s.stage.marks = [];
  s.A({}, call('cp2', 'checkpoint')).MARK().R('cp2').step('c2', LONG).A({}, call('rw2', 'rewind'));
  assert.equal(s.mark.id, 1);
  await s.fold();
  s.R('rw2').assertWireValid();
});
