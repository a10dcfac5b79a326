/** Cases 1: orphaned halves at the edges of the span. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { call, scene } from './scene.js';

const LONG = 'nine thousand characters of output\n'.repeat(260);

test('P1: no place for a mark parts a call from its result', async (t) => {
  const places = 10;
  for (let place = 0; place < places; place += 1) {
    const s = await scene(t);
    const moves = [
      () => s.U('task'),
      () => s.A({}, call('c1')),
      () => s.R('c1', LONG),
      () => s.A({}, call('c2')),
      () => s.R('c2', LONG),
      () => s.A({ t: 'done' }),
    ];
    for (const [index, move] of moves.entries()) {
      if (index === place) s.play('mark', null);
      move();
    }
    if (place >= moves.length) s.play('mark', null);
    s.idle();
    const outcome = await s.ask().then(
      (result) => result,
      (error) => error,
    );
    assert.ok(
      outcome.markId === 1 || ['EMPTY_REGION', 'SHRINK'].includes(outcome.code),
      `${place}: ${outcome}`,
    );
    const stands = (name) => s.surface.split(' ').includes(name);
    for (const id of ['c1', 'c2'])
      assert.equal(stands(`A{${id}}`), stands(`R(${id})`) || stands(`R(${id}*)`), `${place}: ${id}`);
    s.assertWireValid();
  }
});

test('P2: the region ends before a call whose result never came, which stays as it is', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1').A({}, call('c2', 'bash')).U('go on').RW();
  const { foldedNodes } = await s.fold();
  assert.equal(foldedNodes, 2);
  assert.equal(s.surface, 'A{cp} R(cp) REPORT1 A{c2} U A{rw}');
});

test('P2, beside: nothing before the dead call is UNBALANCED and names it', async (t) => {
  for (const prepare of [
    (s) => s.checkpoint(),
    (s) => s.checkpoint().U('look at b too'),
    (s) => s.play('mark', null),
  ]) {
    const s = await scene(t);
    prepare(s);
    s.A({}, call('c2', 'bash'));
    const dead = s.session.surface.nodes.at(-1);
    s.U('go on').step('c3').RW();
    const error = await s.refuse('UNBALANCED');
    assert.match(error.message, new RegExp(`seq ${dead}\\b`));
  }
});

test('P2, beside: a call that died before the mark does not make the fold impossible', async (t) => {
  const s = await scene(t);
  s.U('task').A({}, call('c0', 'bash')).U('go on').checkpoint().step('c1').RW();
  await s.fold();
  assert.equal(s.surface, 'U A{c0} U A{cp} R(cp) REPORT1 A{rw}');
});

test('P3: three folds in a row, the whole surface is valid after each', async (t) => {
  const s = await scene(t);
  s.U('task');
  for (const round of [1, 2, 3]) {
    s.checkpoint(`cp${round}`).step(`a${round}`).step(`b${round}`).RW();
    await s.fold();
    s.R('rw');
    s.assertWireValid();
  }
  assert.equal(
    s.surface,
    [1, 2, 3].reduce((line, n) => `${line} A{cp${n}} R(cp${n}) REPORT${n} A{rw} R(rw)`, 'U'),
  );
});

test('P4: a report holds text and nothing else, whatever the span ended with', async (t) => {
  const s = await scene(t);
  s.checkpoint().A({ t: 'look' }, call('c1'), call('c2')).R('c1', LONG, { image: true }).R('c2', LONG).RW();
  await s.fold();
  assert.deepEqual(
    s.report.data.content.map(({ type }) => type),
    ['text'],
  );
});

test('P6: exactly the ends after a person, after a result and after an answer are allowed', async (t) => {
  const full = ['U', 'A{c1}', 'R(c1)', 'A{c2}', 'R(c2)', 'A{c3}', 'R(c3)', 'A{}'];
  const folds = { 1: undefined, 2: undefined, 3: 3, 4: 3, 5: 5, 6: 5, 7: 7, 8: 8 };
  for (let end = 1; end <= full.length; end += 1) {
    const s = await scene(t);
    s.play('mark', null);
    const moves = [
      () => s.U('task'),
      ...['c1', 'c2', 'c3'].flatMap((id) => [() => s.A({ t: LONG }, call(id)), () => s.R(id, 'ok')]),
      () => s.A({ t: 'the answer' }),
    ];
    for (const move of moves.slice(0, end)) move();
    if (folds[end] === undefined) {
      await s.refuse('EMPTY_REGION');
      continue;
    }
    await s.fold();
    const left = full.slice(folds[end], end);
    assert.equal(s.surface, ['U', 'REPORT1', ...left].join(' '), `end ${end}`);
  }
});

test("P7: the rewind call's message stays, and a sibling's late result is no change", async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1').RW(call('c2', 'update_todo'));
  s.during = () => s.R('c2', 'todo written');
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) REPORT1 A{c2,rw} R(c2)');
});

test('P9: the request for the report is valid and the rewind call is not in it', async (t) => {
  const s = await scene(t);
  s.U('task').checkpoint().step('c1').RW();
  await s.fold();
  const [{ options }] = s.requests;
  assert.doesNotMatch(JSON.stringify(options.messages), /"rw"/);
  assert.equal(options.messages.at(-1).role, 'user');
});

test('P11: calls that run outside the span are left alone', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1').A({}, call('c9', 'bash'), call('rw', 'rewind'));
  const carrier = s.session.events[s.session.surface.nodes.at(-1)];
  await s.fold();
  assert.equal(s.session.events[s.session.surface.nodes.at(-1)], carrier);
  s.R('c9').R('rw').assertWireValid();
});
