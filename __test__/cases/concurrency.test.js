/** Cases 9: two folds at once, aborts, and a session that goes on meanwhile. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { refusalBreaches, snapshot } from '../laws/checks.js';
import { Stage } from '../laws/stage.js';
import { always, say } from '../support/script.js';
import { call, REPORT, scene } from './scene.js';

const LONG = 'a line that somebody read\n'.repeat(100);
const begun = (s) => s.checkpoint().step('c1', LONG).RW();

test('X1: a second fold of one session is refused at once, before any request', async (t) => {
  const s = await scene(t);
  begun(s);
  const first = s.ask();
  await assert.rejects(s.ask(), { code: 'FOLD_IN_PROGRESS' });
  assert.equal((await first).markId, 1);
  assert.equal(s.requests.length, 1);
});

test('X1, beside: two sessions fold at the same time', async (t) => {
  const s = await scene(t);
  begun(s);
  const other = new Stage(s.ctx, 'the-other-session');
  for (const op of [
    ['say', { calls: [call('cp', 'checkpoint')] }],
    ['mark', 0],
    ['res', 0, 'ok'],
    ['say', { calls: [call('c1')] }],
    ['res', 0, LONG],
    ['say', { calls: [call('rw', 'rewind')] }],
  ])
    other.play(op);
  s.ctx.checkpoint.stages.set(other.session.id, other);
  const asked = [s.ask(), s.ctx.rewind.rewind(s.agent(other.session), new AbortController().signal)];
  assert.deepEqual(
    (await Promise.all(asked)).map(({ foldedNodes }) => foldedNodes),
    [2, 2],
  );
});

test('X4: an abort in mid-answer throws its reason, writes nothing and frees the lock', async (t) => {
  const controller = new AbortController();
  const reason = { kind: 'user' };
  const s = await scene(t);
  begun(s);
  const before = snapshot(s.session);
  s.loop.atAnswer = () => controller.abort(reason);
  assert.equal(
    await s.ask(controller.signal).then(
      () => undefined,
      (error) => error,
    ),
    reason,
  );
  assert.deepEqual(refusalBreaches(before, snapshot(s.session)), []);
  await s.fold();
});

test('X4, beside: a signal that is aborted already, and an abort between two attempts', async (t) => {
  const reason = new Error('not now');
  const late = new AbortController();
  const s = await scene(t, { report: [say(''), say(REPORT), say(REPORT)] });
  begun(s);
  const before = snapshot(s.session);
  assert.equal(await s.ask(AbortSignal.abort(reason)).catch((error) => error), reason);
  assert.equal(s.requests.length, 0);
  s.loop.atAnswer = () => {
    if (s.requests.length === 2) late.abort(reason);
  };
  assert.equal(await s.ask(late.signal).catch((error) => error), reason);
  assert.deepEqual(refusalBreaches(before, snapshot(s.session)), []);
});

/** What may happen to a session while its report is written, and whether that changes the fold. */
const MEANWHILE = {
  'the span is compacted': [true, (s) => s.play('compact', 0.5, 1, 'summary')],
  'a result in the span is pruned': [true, (s) => s.play('prune', 1, 'cut')],
  'a new mark is taken': [true, (s) => s.play('mark', null)],
  'what stood before the mark is compacted': [
    false,
    (s) => s.play('compact', 0, 0, 'summary').play('compact', 0, 0.4, 'summary'),
  ],
  "the checkpoint's own result is pruned": [false, (s) => s.play('prune', 0, 'cut')],
  'a person writes (X6)': [false, (s) => s.U('also check b.rs')],
  'a plugin writes': [false, (s) => s.P('time-context', 'it is late')],
};

for (const [what, [changes, happen]] of Object.entries(MEANWHILE)) {
  test(`X5: while the report is written, ${what}: ${changes ? 'CHANGED' : 'no change'}`, async (t) => {
    const s = await scene(t);
    s.U('task').A({ t: 'right' }).checkpoint().step('c1', LONG).step('c2', LONG).RW();
    s.during = () => happen(s);
    if (changes) {
      await s.refuse('CHANGED', { planned: false });
      return;
    }
    await s.fold();
    assert.match(s.surface, /REPORT1 A\{rw\}/);
    if (what.includes('X6')) assert.equal(s.texts.at(-1), 'also check b.rs');
  });
}

test('X5: the whole list decides: same first and last seq, same count, another node between', async (t) => {
  const s = await scene(t);
  s.checkpoint().A({}, call('a'), call('b')).R('a', LONG).R('b', LONG).A({ t: 'so' }).RW();
  s.during = () => s.play('prune', 1, 'cut');
  await s.refuse('CHANGED', { planned: false });
});

test('X6, beside: asked while idle, words that arrive meanwhile stay after the report', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).A({ t: 'done' }).idle();
  s.during = () => s.U('also check b.rs').P('note', 'late');
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) REPORT1 U P[note]');
});

test('X7: an append that throws leaves the mark active and the fold can be asked again', async (t) => {
  const s = await scene(t);
  begun(s);
  const append = s.session.append.bind(s.session);
  s.session.append = (type, data, options) => {
    if (typeof options?.surfaceOp === 'object') throw new Error('disk full');
    return append(type, data, options);
  };
  const before = [...s.session.surface.nodes];
  const error = await s.ask().catch((reason) => reason);
  assert.equal(error.code, 'CHANGED');
  assert.match(error.message, /disk full/);
  assert.deepEqual([...s.session.surface.nodes], before);
  assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), true);
  s.session.append = append;
  assert.equal((await s.ask()).markId, 1);
  s.assertWireValid();
});

test('X7: a failed stamp is a success with a warning, and the report is not folded again', async (t) => {
  const s = await scene(t);
  begun(s);
  s.ctx.checkpoint.failures = 9;
  const result = await s.fold();
  assert.match(result.warning, /disk full/);
  assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), true);
  s.R('rw').step('c5');
  await s.refuse('EMPTY_REGION');
  s.ctx.checkpoint.failures = 0;
  await s.refuse('EMPTY_REGION');
  assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), false, 'the later call stamps it');
});

test('X7, beside: a stamp that fails once is tried again, without a warning', async (t) => {
  const s = await scene(t);
  begun(s);
  s.ctx.checkpoint.failures = 1;
  const result = await s.fold();
  assert.equal(result.warning, undefined);
  assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), false);
});

test('X1, beside: a refusal of every class frees the lock', async (t) => {
  const s = await scene(t, { report: always(say('')) });
  await s.refuse('NO_CHECKPOINT');
  s.checkpoint().RW();
  await s.refuse('EMPTY_REGION');
  s.R('rw').step('c1', LONG).RW();
  await s.refuse('SUMMARY_FAILED', { planned: false });
  await s.refuse('SUMMARY_FAILED', { planned: false });
});
