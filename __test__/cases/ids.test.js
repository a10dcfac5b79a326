/** Cases 3: the same id twice, ids out of order. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { call, scene } from './scene.js';

const long = (words) => `${words} and more of it\n`.repeat(80);

test('D1: an id that each turn uses again pairs by occurrence, every result is an edge', async (t) => {
  for (const mark of [0, 1, 2]) {
    const s = await scene(t);
    for (const [index, found] of ['aaa', 'bbb', 'ccc'].entries()) {
      if (index === mark) s.play('mark', null);
      s.A({}, call('call_0', 'read', JSON.stringify({ path: found }))).R('call_0', long(found));
    }
    s.RW();
    const { foldedNodes, foldedChars } = await s.fold();
    assert.equal(foldedNodes, 2 * (3 - mark));
    assert.equal(
      foldedChars,
      ['aaa', 'bbb', 'ccc']
        .slice(mark)
        .reduce((sum, found) => sum + long(found).length + JSON.stringify({ path: found }).length, 0),
    );
    assert.equal(s.surface, `${'A{call_0} R(call_0) '.repeat(mark)}REPORT1 A{rw}`);
  }
});

test('D1, beside: the checkpoint, the exploration and the rewind call all bear one id', async (t) => {
  const s = await scene(t);
  s.A({}, call('call_0', 'checkpoint')).MARK().R('call_0').step('call_0').A({}, call('call_0', 'rewind'));
  await s.fold();
  assert.equal(s.surface, 'A{call_0} R(call_0) REPORT1 A{call_0}');
  s.R('call_0').assertWireValid();
});

test('D4: two calls with one id in one message are two, and need two results', async (t) => {
  const s = await scene(t);
  s.play('mark', null).A({}, call('z'), call('z')).R('z', long('one'));
  await s.refuse('EMPTY_REGION');
  s.R('z', long('two')).RW();
  assert.equal((await s.fold()).foldedNodes, 3);
});

test('D4, beside: the checkpoint call and its sibling bear one id', async (t) => {
  const s = await scene(t);
  s.A({}, call('z', 'checkpoint'), call('z')).MARK(0).R('z', 'marked').R('z', long('found')).RW();
  await s.fold();
  assert.equal(s.surface, 'A{z,z} R(z) R(z=REPORT1) A{rw}');
});

test('D4, beside: a second result for one call is UNBALANCED and named', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1');
  const { data } = s.session.events.findLast(({ type }) => type === 'tool/result');
  s.session.append('tool/call', { turn: 1, step: s.stage.step, callId: 'c1', name: 'read', arguments: '{}' });
  const { seq } = s.session.append(
    'tool/result',
    { ...data, message: { ...data.message, id: 'again' } },
    { surfaceOp: 'append' },
  );
  s.RW();
  assert.match((await s.refuse('UNBALANCED')).message, new RegExp(`seq ${seq}\\b`));
});

test('D5: a log of sliding snapshots is refused, it neither loops nor folds', async (t) => {
  const s = await scene(t);
  s.checkpoint().A({}, call('1')).A({}, call('1'), call('2')).A({}, call('2'), call('3')).R('2').R('3').RW();
  await s.refuse('UNBALANCED');
});
