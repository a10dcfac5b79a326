/** Cases 6: what counts, in which unit, and when a fold is too small. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { call, scene } from './scene.js';
import { always, say } from '../support/script.js';

test('K1: text, reasoning, arguments and every block of an output count, exactly', async (t) => {
  const args = JSON.stringify({ content: 'y'.repeat(4000) });
  const s = await scene(t);
  s.checkpoint()
    .A({ r: 'x'.repeat(500) }, call('c1', 'write', args))
    .R('c1', 'z'.repeat(3000), { blocks: ['w'.repeat(10)] })
    .RW();
  const { foldedChars } = await s.fold();
  assert.equal(foldedChars, 500 + args.length + 3010);
});

/** Words of a given length that a report may have. */
function words(length) {
  let text = '';
  for (let line = 1; text.length < length; line += 1) text += `Finding ${line}: value ${line * 37}.\n`;
  return `${text.slice(0, length - 1)}.`;
}

test('K2: what lands has to be shorter than what it replaces: one character decides', async (t) => {
  for (const [landed, code] of [
    [899, undefined],
    [900, 'SHRINK'],
    [901, 'SHRINK'],
  ]) {
    const s = await scene(t, { meter: false, report: always(say(words(landed))) });
    s.checkpoint()
      .A({}, call('c1', 'ls', ''))
      .R('c1', 'q'.repeat(900))
      .RW();
    if (code === undefined) {
      const { foldedChars, reportChars } = await s.fold();
      assert.deepEqual([foldedChars, reportChars], [900, 899]);
      continue;
    }
    const error = await s.refuse(code, { planned: false });
    assert.match(error.message, /\b900 characters/);
    assert.match(error.message, new RegExp(`\\b${landed}\\b`));
    assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), true);
  }
});

test('K2, beside: pointers and rewritten siblings count as landed text', async (t) => {
  const s = await scene(t, { meter: false, report: always(say(words(300))) });
  s.A({}, call('cp', 'checkpoint'), call('c1'))
    .MARK(0)
    .R('cp')
    .R('c1', 'q'.repeat(300))
    .step('c2', 'p'.repeat(300));
  s.U('and b').step('c3', 'r'.repeat(300)).RW();
  const { reportChars } = await s.fold();
  const landed = s.session.events
    .filter(({ surfaceOp }) => typeof surfaceOp === 'object')
    .map(({ seq }) => seq);
  assert.equal(landed.length, 3);
  assert.equal(
    reportChars,
    s.session.surface.nodes.reduce(
      (sum, seq, at) => sum + (landed.includes(seq) ? s.texts[at].length : 0),
      0,
    ),
  );
});

test('K3: a tiny exploration is refused with at most one request, and the mark stays', async (t) => {
  const s = await scene(t, { report: always(say(words(300))) });
  s.checkpoint()
    .A({}, call('c1', 'ls', '{"path":"src"}'))
    .R('c1', 'a.rs')
    .RW();
  const error = await s.refuse('SHRINK', { planned: false });
  assert.ok(s.requests.length <= 1);
  assert.match(error.message, /\b18 characters/);
  assert.match(error.message, /go on/);
  assert.equal(await s.ctx.checkpoint.hasActive(s.session.id), true);
});

test('K3, beside: what a person has to be quoted for is weighed before the model is asked', async (t) => {
  const s = await scene(t);
  s.play('mark', null)
    .A({}, call('a', 'ls', ''))
    .U('z'.repeat(400))
    .R('a', 'ok')
    .RW();
  await s.refuse('SHRINK', { planned: false });
  assert.equal(s.requests.length, 0);
});

test('K5: arguments that are no JSON are counted by length and never parsed', async (t) => {
  for (const args of ['', '{', '[1,2', 'null', '"', '{"a":\u0000']) {
    const s = await scene(t);
    s.checkpoint()
      .A({}, call('c1', 'read', args))
      .R('c1', 'o'.repeat(800))
      .RW();
    assert.equal((await s.fold()).foldedChars, args.length + 800);
  }
});

test('K5, beside: arguments that are null in an imported log count nothing', async (t) => {
  const s = await scene(t, { meter: false });
  s.checkpoint();
  const { stage } = s;
  stage.closeStep();
  stage.step += 1;
  stage.stepOpen = true;
  s.session.append('step/start', { turn: 1, step: stage.step });
  const block = { type: 'tool-call', id: 'c1', name: 'read', arguments: null };
  const message = stage.message('assistant', [block], { kind: 'model', provider: 'p', model: 'm' });
  s.session.append('assistant/message', { turn: 1, step: stage.step, message }, { surfaceOp: 'append' });
  stage.calls = [{ id: 'c1', name: 'read', args: '', started: false }];
  s.R('c1', 'o'.repeat(800)).RW();
  assert.equal((await s.fold()).foldedChars, 800);
});

test('1.9: the numbers name the first and the last folded node in surface order', async (t) => {
  const s = await scene(t);
  s.A({}, call('cp', 'checkpoint'), call('c1')).MARK(0).R('cp').R('c1', 'q'.repeat(900)).step('c2').RW();
  const [, , sibling] = s.session.surface.nodes;
  const last = s.session.surface.nodes.at(-2);
  const { start, end, foldedNodes } = await s.fold();
  assert.deepEqual([start, end, foldedNodes], [sibling, last, 3]);
});
