/**
 * The companion that watches replacements: what it refuses, what it leaves alone, and what it costs. Sessions
 * are the real ones, with the harness's own companions beside it.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import InvariantRegistry from '@deepseek-ai/dsh-invariants';
import { SessionId } from '@deepseek-ai/dsh-session';
import * as companion from '@dpskh/tool-rewind/invariant';
import { createLoop } from '../support/loop.js';

let loop;
let made = 0;

before(async () => {
  loop = await createLoop({ meter: false });
});

after(() => loop.dispose());

const text = (words) => [{ type: 'text', text: words }];
const OURS = /invariant violated by "@dpskh\/tool-rewind"/;

/** A session in an open step, with a few moves. */
class Log {
  constructor(seed) {
    made += 1;
    this.session = loop.ctx.sessions.create(SessionId(`watched-${made}`), seed && { seed });
    if (seed) return;
    this.session.append('turn/start', { turn: 1 });
    this.session.append('step/start', { turn: 1, step: 1 });
  }

  message(role, content, source) {
    made += 1;
    return { id: `m${made}`, role, content, source };
  }

  user(words, source = { kind: 'user' }) {
    return this.session.append('user/message', this.message('user', text(words), source), {
      surfaceOp: 'append',
    }).seq;
  }

  says(words, ...ids) {
    const calls = ids.map((id) => ({ type: 'tool-call', id, name: 'read', arguments: '{}' }));
    const message = this.message('assistant', [...(words ? text(words) : []), ...calls], {
      kind: 'model',
      provider: 'p',
      model: 'm',
    });
    const { seq } = this.session.append(
      'assistant/message',
      { turn: 1, step: 1, message },
      { surfaceOp: 'append' },
    );
    for (const id of ids)
      this.session.append('tool/call', { turn: 1, step: 1, callId: id, name: 'read', arguments: '{}' });
    return seq;
  }

  answer(id, words = 'found') {
    const block = { type: 'tool-result', toolCallId: id, content: text(words), isError: false };
    const message = this.message('user', [block], { kind: 'tool', callId: id });
    return this.session.append('tool/result', { turn: 1, step: 1, message }, { surfaceOp: 'append' }).seq;
  }

  replace(seqs, words, source) {
    return this.session.append('user/message', this.message('user', text(words), source), {
      surfaceOp: { op: 'replace', start: seqs[0], end: seqs.at(-1) },
      sourceEventSeqs: seqs,
    });
  }

  /** Asserts that a replacement is refused before it is in the log. */
  refuses(seqs, words, source, reason) {
    const { seq } = this.session;
    assert.throws(
      () => this.replace(seqs, words, source),
      (error) => OURS.test(error.message) && reason.test(error.message),
    );
    assert.equal(this.session.seq, seq);
  }
}

const SOMEBODY = { kind: 'plugin', plugin: 'somebody' };
const COMPACT = { kind: 'plugin', plugin: 'receipts' };

test('a pair split by anybody is refused, on either side', () => {
  const log = new Log();
  const carrier = log.says('', 'a', 'b');
  const results = [log.answer('a'), log.answer('b')];
  log.refuses([carrier], 'gone', SOMEBODY, /result \d+ answers no call/);
  log.refuses([carrier, results[0]], 'gone', SOMEBODY, /answers no call/);
  log.refuses([results[1]], 'gone', SOMEBODY, /call "b" \(2\) of node 2 loses its answer/);
  log.refuses(results, 'gone', COMPACT, /loses its answer/);
  log.replace([carrier, ...results], 'all three', SOMEBODY);
});

test('counts that agree do not hide a split pair: ids and occurrences decide', () => {
  const log = new Log();
  const one = log.says('', 'a');
  const answered = log.answer('a');
  const two = log.says('', 'b');
  log.answer('b');
  log.refuses([answered, two], 'crossed', SOMEBODY, /answers no call|loses its answer/);
  log.replace([one, answered], 'first', SOMEBODY);
});

test('the same id used again is another call', () => {
  const log = new Log();
  const first = [log.says('', 'z'), log.answer('z')];
  log.says('', 'z');
  log.answer('z');
  log.replace(first, 'the first', SOMEBODY);
});

test('a call in flight is not answered yet, and nothing beside it is refused', () => {
  const log = new Log();
  const settled = [log.says('', 'a'), log.answer('a')];
  const flying = log.says('', 'rw');
  log.replace(settled, 'folded', SOMEBODY);
  log.answer('rw');
  assert.ok(log.session.surface.nodes.includes(flying));
});

test('a fault that was there before is not its business', () => {
  const log = new Log();
  const dead = log.says('', 'dead');
  const note = log.user('go on', { kind: 'plugin', plugin: 'x' });
  const next = log.says('', 'b');
  const result = log.answer('b');
  log.replace([note], 'still here', SOMEBODY);
  log.replace([next, result], 'folded', SOMEBODY);
  log.replace([dead], 'the dead call goes too', SOMEBODY);
});

test('a message in the middle of a pair is allowed only where one stood', () => {
  const log = new Log();
  log.says('', 'a', 'b');
  log.answer('a');
  const between = log.user('note', { kind: 'plugin', plugin: 'x' });
  log.answer('b');
  log.replace([between], 'shorter', SOMEBODY);
});

test('an append is never refused, whatever it breaks', () => {
  const log = new Log();
  log.says('', 'a');
  log.user('');
  log.answer('a');
  log.says('', 'never');
  log.says('', 'b');
});

test('a replacement without content is refused', () => {
  const log = new Log();
  const seq = log.user('x', SOMEBODY);
  log.refuses([seq], '', SOMEBODY, /no content/);
});

test('a rewritten result stays the answer to its call', () => {
  const log = new Log();
  log.says('', 'a', 'b');
  const first = log.answer('a');
  log.answer('b');
  const { data } = log.session.events[first];
  const [block] = data.message.content;
  log.session.append(
    'tool/result',
    { ...data, message: { ...data.message, content: [{ ...block, content: text('cut') }] } },
    {
      surfaceOp: { op: 'replace', start: first, end: first },
      sourceEventSeqs: [first],
    },
  );
});

const report = (more) => ({
  kind: 'plugin',
  plugin: 'rewind',
  markId: 1,
  foldedNodes: 2,
  reportChars: 100,
  ...more,
});

test("a person's message shadowed by one of ours is refused, anybody else answers for theirs", () => {
  const log = new Log();
  const person = log.user('Never push to main.');
  const said = log.says('ok');
  const both = [person, said];
  log.refuses(
    both,
    'report',
    report({ end: said }),
    /does not quote a person's words: "Never push to main\."/,
  );
  log.refuses(
    both,
    'receipt',
    { kind: 'plugin', plugin: 'rewind-prune', receipt: 1 },
    /without being quoted/,
  );
  log.refuses(
    both,
    'turn',
    { kind: 'plugin', plugin: 'turn-memory', turn: 1, scope: 'whole-turn' },
    /drops a person's words/,
  );
  log.refuses(
    both,
    'see below',
    { kind: 'plugin', plugin: 'rewind-pointer', markId: 1 },
    /not on the surface/,
  );
  log.replace(both, 'summary', SOMEBODY);
});

test('a report that quotes keeps its promise, in the text and in the source', () => {
  const log = new Log();
  const both = [log.user('one\ntwo'), log.says('ok')];
  const quotes = ['one\ntwo'];
  log.refuses(both, 'said: > one', report({ end: both[1], quotes }), /does not quote/);
  log.refuses(both, '> one\n> two', report({ end: both[1] }), /does not quote/);
  const { seq } = log.replace(both, '> one\n> two', report({ end: both[1], quotes }));
  log.refuses([seq], 'a later report', report({ markId: 2, end: seq, foldedNodes: 1 }), /does not quote/);
  log.replace([seq], 'later:\n> one\n> two', report({ markId: 2, end: seq, foldedNodes: 1, quotes }));
});

test("the numbers in a report's source are held to", () => {
  const log = new Log();
  const both = [log.says('ok'), log.says('ok')];
  log.refuses(
    both,
    'report',
    { kind: 'plugin', plugin: 'rewind', foldedNodes: 2, reportChars: 100, end: both[1] },
    /names no mark/,
  );
  log.refuses(both, 'report', report({ end: both[0] }), /ends at seq/);
  log.refuses(both, 'report', report({ end: both[1], foldedNodes: 1 }), /1 nodes and shadows 2/);
  log.refuses(both, 'report', report({ end: both[1], reportChars: 3 }), /3 characters and has 6/);
  log.replace(both, 'report', report({ end: both[1] }));
});

test('a pointer leans on the quotes of its report', () => {
  const log = new Log();
  const early = [log.user('stop'), log.says('ok')];
  const late = log.says('later');
  const quotes = ['stop'];
  log.replace([late], 'r: > stop', report({ end: late, foldedNodes: 3, quotes }));
  log.replace(early, 'see the report below', { kind: 'plugin', plugin: 'rewind-pointer', markId: 1 });
});

test('a session that was seeded is watched, its seed is taken as it is', () => {
  const log = new Log();
  const carrier = log.says('', 'a');
  log.answer('a');
  log.says('', 'never');
  const fork = new Log(log.session.events);
  fork.refuses([carrier], 'gone', SOMEBODY, /answers no call/);
});

test('a session that lived before the companion is watched once it is loaded', async () => {
  const late = await createLoop({ meter: false, invariants: false });
  const session = late.ctx.sessions.create(SessionId('older'));
  session.append('turn/start', { turn: 1 });
  session.append('step/start', { turn: 1, step: 1 });
  const log = new Log();
  log.session = session;
  const carrier = log.says('', 'a');
  log.answer('a');
  await late.ctx.plugin(InvariantRegistry);
  await late.ctx.plugin(companion);
  log.refuses([carrier], 'gone', SOMEBODY, /answers no call/);
  await late.dispose();
});

test('it reads no event of the log to judge an append, and of a replacement only its neighbours', () => {
  const log = new Log();
  for (let index = 0; index < 400; index += 1) log.user(`note ${index}`, SOMEBODY);
  const carrier = log.says('', 'a');
  const result = log.answer('a');
  let reads = 0;
  Object.defineProperty(log.session, 'events', {
    configurable: true,
    get() {
      reads += 1;
      return Object.getOwnPropertyDescriptor(Object.getPrototypeOf(log.session), 'events').get.call(
        log.session,
      );
    },
  });
  for (let index = 0; index < 50; index += 1) log.user('more', SOMEBODY);
  log.replace([carrier, result], 'folded', SOMEBODY);
  assert.equal(reads, 0);
});
