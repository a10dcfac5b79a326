/** Cases 8: images and rich blocks. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { call, scene } from './scene.js';

const sent = (s) => JSON.stringify(s.requests[0].options.messages);
const NOTE = /\[image: [^,\]]+, image\/png\]/;

test('I1: a model that takes no images gets a note where each image was', async (t) => {
  const s = await scene(t, { model: { inputModalities: ['text'] } });
  s.checkpoint().A({}, call('c1', 'screenshot')).R('c1', 'a page\n'.repeat(200), { image: true }).RW();
  await s.fold();
  assert.match(sent(s), NOTE);
  assert.doesNotMatch(sent(s), /attachmentId/);
});

test('I1, beside: a model that takes images, or does not say, gets them as they are', async (t) => {
  for (const model of [undefined, { inputModalities: ['text', 'image'] }]) {
    const s = await scene(t, { model });
    s.checkpoint().A({}, call('c1', 'screenshot')).R('c1', 'a page\n'.repeat(200), { image: true }).RW();
    await s.fold();
    assert.match(sent(s), /attachmentId/);
  }
});

test('I2: an image counts nothing, the text beside it counts, and no bytes become text', async (t) => {
  const s = await scene(t, { meter: false, model: { inputModalities: ['text'] } });
  const text = '{"chart_id":7}';
  s.checkpoint()
    .A({ t: 'p'.repeat(900) }, call('c1', 'chart', ''))
    .R('c1', text, { image: true })
    .RW();
  assert.equal((await s.fold()).foldedChars, 900 + 14);
  assert.ok(sent(s).includes(JSON.stringify(text).slice(1, -1)));
  assert.doesNotMatch(sent(s), /base64|sha256/);
});

test('I2, beside: a region of images alone is judged by tokens, without a meter it folds', async (t) => {
  const region = (s) =>
    s
      .checkpoint()
      .A({}, call('c1', 'screenshot', ''))
      .R('c1', '', { image: true })
      .RW();
  const bare = await scene(t, { meter: false });
  region(bare);
  assert.equal((await bare.fold()).foldedChars, 0);
  const metered = await scene(t);
  const outcome = await region(metered)
    .ask()
    .then(
      (result) => result,
      (error) => error,
    );
  if (outcome.code === 'SHRINK') assert.match(outcome.message, /0 characters \(about \d+ tokens\)/);
  else assert.ok(outcome.reportTokens < outcome.foldedTokens);
});

test("I4: a person's image in the span stays on the surface, and the request has it", async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1').U('look at this', true).step('c2').RW();
  const original = s.session.surface.nodes[4];
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) POINTER1 U REPORT1 A{rw}');
  assert.ok(s.session.surface.nodes.includes(original));
  assert.match(sent(s), /look at this/);
});

test("I4, beside: a person's image inside an open pair is named in the quote", async (t) => {
  const s = await scene(t);
  s.play('mark', null)
    .A({}, call('a', 'read', ''))
    .U('look at this', true)
    .R('a', 'x'.repeat(2000))
    .RW();
  const { seq } = s.session.events.find(
    ({ type, data }) => type === 'user/message' && data.source.kind === 'user',
  );
  await s.fold();
  const report = s.texts[0];
  assert.match(report, new RegExp(`^> ${NOTE.source}$`, 'm'));
  assert.match(report, /^> look at this$/m);
  assert.equal(s.session.events[seq].data.content[0].type, 'image');
});
