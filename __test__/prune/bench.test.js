/**
 * What the measurements stand on: the stories, the scorer, and the pass in plain JavaScript as a second
 * opinion.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Session } from '@deepseek-ai/dsh-session';
import { plainPass } from '../../benches/prune/plain.js';
import { DEFAULTS, NOTHING, RECEIPTS, replay, stock } from '../../benches/prune/replay.js';
import { Scorer, identifiersOf, troubleLines, visibleText } from '../../benches/prune/scorer.js';
import { corePass, grow } from '../../benches/prune/speed.js';
import { stories } from '../../benches/prune/stories/index.js';
import { native } from '../../plugin/native.js';
import { prune } from './stage.js';

const SURFACE = new Set(['user/message', 'assistant/message', 'tool/result']);

function sessionOf(rows) {
  const session = Session.create('story');
  for (const { type, data } of rows) {
    if (!SURFACE.has(type)) continue;
    const sourceEventSeqs = type === 'user/message' ? undefined : [session.seq - 1];
    session.append(type, data, { surfaceOp: 'append', ...(sourceEventSeqs && { sourceEventSeqs }) });
  }
  return session;
}

function assertSamePass(session) {
  const settings = new native.PruneSettings(
    JSON.stringify(prune.Config({ judge: 'rules', keepMode: 'absolute' })),
  );
  const core = corePass(settings, session);
  const plain = plainPass(session);
  const bodies = core.trims.cuts.map(({ seq, blocks: [kept], marker }) => {
    const { text } = session.events[seq].data.message.content[0].content[0];
    return [seq, text.slice(0, kept.headEnd) + marker + text.slice(kept.tailStart)];
  });
  assert.deepEqual(bodies, plain.cuts);
  assert.deepEqual(
    core.edits.map(({ seqs, text }) => [seqs, text]),
    plain.receipts,
  );
  return plain;
}

test('the core and plain JavaScript come to the same cuts and receipts, byte for byte', () => {
  const { cuts, receipts } = assertSamePass(grow(600));
  assert.ok(cuts.length > 100 && receipts.length > 20);
  for (const { rows } of stories()) assertSamePass(sessionOf(rows()));
});

test('the stories are the same each time, large, and sessions that a provider takes', async () => {
  let large = 0;
  for (const { name, rows } of stories()) {
    const told = rows();
    assert.deepEqual(rows(), told, name);
    large += told.filter(
      ({ type, data }) => type === 'tool/result' && visibleText({ type, data }).length > 8_192,
    ).length;
    assert.deepEqual((await replay(told, NOTHING, 1e9)).faults, [], name);
  }
  assert.ok(large >= 300, `${large} results over 8 KB`);
});

test('no receipt takes evidence, and no edit adds a fault, in any story', async () => {
  let receipts = 0;
  for (const { name, rows } of stories()) {
    for (const policy of [DEFAULTS, RECEIPTS]) {
      const outcome = await replay(rows(), policy, 60_000);
      assert.equal(outcome.evidenceLost, 0, name);
      assert.deepEqual(outcome.faults, [], name);
      receipts += outcome.receipts;
    }
  }
  assert.ok(receipts > 50, String(receipts));
});

test('the stock pruner, scaled, frees more or less', async () => {
  const [{ rows }] = stories();
  const weights = [];
  for (const scale of [0.25, 1, 4]) weights.push((await replay(rows(), stock(scale), 60_000)).tokens);
  assert.ok(weights[0] < weights[1] && weights[1] < weights[2], String(weights));
});

// The scorer.

test('identifiers are told from words', () => {
  assert.deepEqual(
    [...identifiersOf('parse_token emitNodes readable UPPERCASE sha256sum short_1 a_b_c_d_e')],
    ['parse_token', 'emitNodes', 'sha256sum', 'a_b_c_d_e'],
  );
});

test('lines of trouble are found where a word begins', () => {
  assert.deepEqual(troubleLines('fine\nTypeError: x\ndebug on\nstack_trace\nit failed\n出现错误'), [
    'TypeError: x',
    'it failed',
    '出现错误',
  ]);
});

test('a result counts once it was dropped, is used, and stands nowhere else', () => {
  const rows = stories()[0].rows();
  const session = sessionOf(rows.slice(0, 30));
  const results = session.events.filter(({ type }) => type === 'tool/result');
  const scorer = new Scorer();
  for (const event of results) scorer.result(event);
  const [, { seq, data }] = results;
  const [word] = [...identifiersOf(visibleText(session.events[seq]))].filter((one) =>
    session.events.every(
      (event) => event.seq === seq || !SURFACE.has(event.type) || !visibleText(event).includes(one),
    ),
  );
  const says = (text) => ({
    type: 'assistant/message',
    data: { message: { content: [{ type: 'text', text }] } },
  });

  scorer.request(session, says(`I use ${word}.`));
  assert.deepEqual([...scorer.needed], [], 'it still stands there');
  const message = structuredClone(data.message);
  message.content[0].content = [{ type: 'text', text: 'gone' }];
  session.append(
    'tool/result',
    { ...data, message },
    { surfaceOp: { op: 'replace', start: seq, end: seq }, sourceEventSeqs: [seq] },
  );
  scorer.request(session, says('Nothing of it.'));
  assert.deepEqual([...scorer.needed], []);
  scorer.request(session, says(`I use ${word}.`));
  scorer.request(session, says(`And ${word} once more.`));
  assert.deepEqual([...scorer.needed], [seq]);
});
