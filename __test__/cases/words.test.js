/** Cases 13 and 14: a person's words, and what a provider remembers of the messages that stay. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { call, scene } from './scene.js';

const LONG = 'a line that somebody read\n'.repeat(100);

test('T2: a standing rule in the exploration stays on the surface, word for word', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).U('Never push to main.').step('c2', LONG).RW();
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) POINTER1 U REPORT1 A{rw}');
  assert.equal(s.texts[3], 'Never push to main.');
  assert.doesNotMatch(s.texts[2], /\n/);
});

test('T2, beside: rules at the very start and the very end of the exploration', async (t) => {
  const s = await scene(t);
  s.checkpoint().U('first').step('c1', LONG).U('last').RW();
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) U REPORT1 U A{rw}');
});

test('T2, beside: two rules in a row leave no empty segment', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).U('one').U('two').step('c2', LONG).RW();
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) POINTER1 U U REPORT1 A{rw}');
});

test('T2, beside: a rule inside an open pair is quoted, and later folds carry the quote on', async (t) => {
  const s = await scene(t);
  s.play('mark', null).A({}, call('a')).U('Never push to main.\nNot even once.').R('a', LONG).RW();
  await s.fold();
  for (const round of [2, 3]) {
    s.R('rw').step(`c${round}`, LONG).RW();
    s.stage.marks.push({ id: round, logLength: 0 });
    await s.fold();
    assert.match(s.texts[0], /^> Never push to main\.\n> Not even once\.$/m);
  }
});

test("T2, beside: a turn's checkpoint is not folded either", async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).P('turn-memory', 'Turn 3: the person said: no').step('c2', LONG).RW();
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) POINTER1 P[turn-memory] REPORT1 A{rw}');
});

test('1.7: what plugins injected folds, and is cited, so that it supplies itself again', async (t) => {
  const s = await scene(t);
  s.checkpoint().P('agent-instructions', LONG).step('c1', LONG).P('rewind-guard', 'fold before you end').RW();
  const injected = s.session.surface.nodes.filter(
    (seq) => s.session.events[seq].data.source?.kind === 'plugin',
  );
  const { foldedNodes } = await s.fold();
  assert.equal(foldedNodes, 4);
  for (const seq of injected) assert.ok(s.report.sourceEventSeqs.includes(seq));
});

test('W1: reasoning of messages outside the span stays byte for byte', async (t) => {
  const s = await scene(t);
  s.checkpoint()
    .step('c1', LONG)
    .A({ r: 'thinking, in the mode that wants it back', t: '' }, call('rw', 'rewind'));
  const kept = s.session.events[s.session.surface.nodes.at(-1)];
  await s.fold();
  assert.equal(s.session.events[s.session.surface.nodes.at(-1)], kept);
});

test('W2: the message of the rewind call is untouched, its reasoning with it', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).A({ r: 'thinking' }, call('rw', 'rewind'));
  const message = s.session.deriveMessages().at(-1);
  await s.fold();
  assert.equal(s.session.deriveMessages().at(-1), message);
});

test('W3: empty texts, empty results and bare reasoning fold and are not sent empty', async (t) => {
  const s = await scene(t);
  s.checkpoint()
    .A({ t: '' }, call('c1'))
    .R('c1', '')
    .A({ r: 'only thinking' })
    .A({})
    .P('note', '')
    .step('c2', LONG)
    .RW();
  const { foldedNodes } = await s.fold();
  assert.equal(foldedNodes, 7);
  const empty = s.requests[0].options.messages.filter(({ content }) =>
    content.every((block) => block.type === 'text' && block.text === ''),
  );
  assert.deepEqual(empty, []);
});

test('W3, beside: an empty message before the mark does not spoil the request', async (t) => {
  const s = await scene(t);
  s.U('').A({ t: 'yes?' }).U('task').checkpoint().step('c1', LONG).RW();
  await s.fold();
  assert.ok(s.requests[0].options.messages.every(({ content }) => content.length > 0));
});
