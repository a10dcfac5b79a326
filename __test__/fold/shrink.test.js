/** A fold makes the context smaller or does not happen (docs/rewind.md 3.2). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { say } from '../support/script.js';
import { OUTPUT, sceneOf } from './scene.js';

/** An exploration of one message of `chars` characters. */
async function spoken(t, chars, report, options = {}) {
  const scene = await sceneOf(t, { report, ...options });
  scene.person('find the port');
  scene.mark();
  scene.says({ t: 'a'.repeat(chars) });
  scene.rewind();
  return scene;
}

/** All text that a fold landed, by the log. */
const landed = (scene) => scene.nodes().filter(({ surfaceOp }) => surfaceOp !== 'append').map(({ seq }) => scene.words(seq));
const length = (texts) => texts.reduce((sum, text) => sum + text.length, 0);

test('K2: shorter lands; as long, or longer, is refused with both numbers', async (t) => {
  for (const [chars, lands] of [[899, true], [900, false], [901, false]]) {
    const scene = await spoken(t, 900, [say('b'.repeat(chars))], { meter: false });
    if (lands) {
      const { foldedChars, reportChars, foldedTokens } = await scene.fold();
      assert.deepEqual([foldedChars, reportChars, foldedTokens], [900, 899, undefined]);
      assert.deepEqual(landed(scene), ['b'.repeat(899)]);
      continue;
    }
    const { code, message, detail } = await scene.refused();
    assert.equal(code, 'SHRINK');
    assert.match(message, /\b900\b/);
    assert.match(message, new RegExp(`\\b${chars}\\b`));
    assert.match(message, /go on/);
    assert.deepEqual([detail.foldedChars, detail.reportChars], [900, chars]);
  }
});

test('all landed text counts: report, pointers, rewritten siblings', async (t) => {
  const layout = async (report) => {
    const scene = await sceneOf(t, { report: [say(report)], meter: false });
    scene.says({ calls: [['cp', 'checkpoint', ''], ['s1', 'read', '']] });
    scene.take({ callId: 'cp' });
    scene.result('cp', 'marked');
    scene.result('s1', 'x'.repeat(200));
    scene.says({ t: 'y'.repeat(200) });
    scene.person('go on');
    scene.says({ t: 'z'.repeat(200) });
    scene.rewind();
    return scene;
  };
  const small = await layout('It is 7777.');
  const { reportChars, foldedChars } = await small.fold();
  assert.equal(foldedChars, 600);
  assert.equal(landed(small).length, 3);
  assert.equal(reportChars, length(landed(small)));
  const beside = length(landed(small).filter((text) => !text.includes('7777')));
  const fits = await layout('b'.repeat(599 - beside));
  assert.equal((await fits.fold()).reportChars, 599);
  const not = await layout('b'.repeat(600 - beside));
  assert.equal((await not.refused()).detail.reportChars, 600);
});

test('a report in a sibling counts its opening too', async (t) => {
  const layout = async (report) => {
    const scene = await sceneOf(t, { report: [say(report)], meter: false });
    scene.says({ calls: [['cp', 'checkpoint', ''], ['s1', 'read', '']] });
    scene.take({ callId: 'cp' });
    scene.result('cp', 'marked');
    scene.result('s1', 'x'.repeat(200));
    scene.rewind();
    return scene;
  };
  const opening = '[rewind report of mark 1]\n'.length;
  const fits = await layout('b'.repeat(199 - opening));
  assert.deepEqual([(await fits.fold()).reportChars, length(landed(fits))], [199, 199]);
  assert.equal((await (await layout('b'.repeat(200 - opening))).refused()).code, 'SHRINK');
});

test('with a meter it must cost fewer tokens as well', async (t) => {
  // 40 and 38 characters are 10 tokens each, beside what a message and a block cost.
  const alone = await spoken(t, 40, [say('b'.repeat(38))], { meter: false });
  assert.equal((await alone.fold()).reportChars, 38);
  const metered = await spoken(t, 40, [say('b'.repeat(38)), say('b'.repeat(36))]);
  const { code, message, detail } = await metered.refused();
  assert.equal(code, 'SHRINK');
  assert.deepEqual([detail.foldedTokens, detail.reportTokens], [18, 18]);
  assert.match(message, /\b18 tokens/);
  const { foldedTokens, reportTokens } = await metered.fold();
  assert.deepEqual([foldedTokens, reportTokens], [18, 17]);
});

test('the token numbers are the meter\'s own prices of what left and of what landed', async (t) => {
  const scene = await sceneOf(t);
  scene.mark();
  const folded = [...scene.look('c1'), ...scene.look('c2')];
  scene.rewind();
  const price = (seqs) => seqs.reduce((sum, seq) =>
    sum + scene.ctx.tokenMeter.estimateMessage(scene.session.deriveEventMessage(scene.session.events[seq])), 0);
  const before = price(folded);
  const { foldedTokens, reportTokens } = await scene.fold();
  assert.equal(foldedTokens, before);
  assert.equal(reportTokens, price([scene.report().seq]));
});

test('K3: too small for any report is refused before a request, by characters and by tokens', async (t) => {
  const cases = [
    [1, { meter: false }], [1, {}],
    // Two characters cost what the shortest report costs: nothing can be saved.
    [2, {}], [4, {}],
  ];
  for (const [chars, options] of cases) {
    const scene = await spoken(t, chars, [say('b')], options);
    const { code, detail } = await scene.refused();
    assert.equal(code, 'SHRINK', `${chars} characters`);
    assert.equal(detail.foldedChars, chars);
    assert.equal(scene.asked.length, 0, `${chars} characters were asked about`);
  }
});

test('quotes belong to the shortest report', async (t) => {
  const words = 'w'.repeat(400);
  const scene = await sceneOf(t, { meter: false, invariants: false });
  scene.mark();
  scene.says({ calls: [['c1', 'read', '']] });
  scene.person(words);
  scene.result('c1', 'tiny');
  scene.rewind();
  assert.equal((await scene.refused()).code, 'SHRINK');
  assert.equal(scene.asked.length, 0);
});

test('after any other SHRINK the fold stays retryable, and grows with the region', async (t) => {
  const scene = await spoken(t, 100, [say('b'.repeat(300)), say('b'.repeat(300)), say('b'.repeat(50))]);
  assert.equal((await scene.refused()).code, 'SHRINK');
  assert.equal((await scene.refused()).code, 'SHRINK');
  assert.equal((await scene.fold()).reportChars, 50);
  assert.equal(scene.asked.length, 3);
});

test('N3: ten refusals in a row cost no request where none can help', async (t) => {
  const scene = await spoken(t, 1, []);
  for (let call = 0; call < 10; call += 1) assert.equal((await scene.refused()).code, 'SHRINK');
  assert.equal(scene.asked.length, 0);
});

test('a region of images alone is judged by tokens, and folds where there is no meter', async (t) => {
  const pictured = async (report, options) => {
    const scene = await sceneOf(t, { report: [say(report)], ...options });
    scene.mark();
    scene.says({ calls: [['c1', 'shot', ''], ['c2', 'shot', ''], ['c3', 'shot', '']] });
    for (const id of ['c1', 'c2', 'c3']) scene.answer(id, null, { image: true });
    scene.rewind();
    return scene;
  };
  const unmetered = await pictured('b'.repeat(5000), { meter: false });
  const { foldedChars, foldedNodes, reportChars } = await unmetered.fold();
  assert.deepEqual([foldedChars, foldedNodes], [0, 4]);
  assert.ok(reportChars >= 5000);
  const metered = await pictured('Three screens, all blank.');
  const { foldedTokens, reportTokens } = await metered.fold();
  assert.ok(reportTokens < foldedTokens);
  assert.equal((await (await pictured('b'.repeat(5000))).refused()).code, 'SHRINK');
});

test('U4: characters are UTF-16 units, whatever they cost', async (t) => {
  const scene = await sceneOf(t, { report: [say('b'.repeat(2900))], meter: false });
  scene.mark();
  scene.says({ t: '文'.repeat(2000) + '🔬'.repeat(500) });
  scene.rewind();
  const { foldedChars, reportChars } = await scene.fold();
  assert.deepEqual([foldedChars, reportChars < foldedChars], [3000, true]);
});

test('K5, C6: arguments count as they stand, and a meter that cannot price them is no reason to fail', async (t) => {
  for (const meter of [false, true]) {
    const scene = await sceneOf(t, { meter, invariants: false });
    scene.mark();
    scene.says({ calls: [['c1', 'read', '']] });
    const { turn, step } = scene;
    scene.result('c1', OUTPUT);
    const content = [{ type: 'tool-call', id: 'c2', name: 'read', arguments: null }];
    const message = scene.message('assistant', content, { kind: 'model', provider: 'scripted', model: 'scripted-1' });
    scene.append('assistant/message', { turn, step, message }, { surfaceOp: 'append' });
    scene.calls = [{ id: 'c2', name: 'read', args: '{}', started: true }];
    scene.result('c2', 'z'.repeat(100));
    scene.rewind();
    const { foldedChars, foldedNodes } = await scene.fold();
    assert.deepEqual([foldedChars, foldedNodes], [OUTPUT.length + 100, 4]);
  }
});
