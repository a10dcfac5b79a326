/** How the index of marks reads a log: odd and broken events, and what it costs. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { Session } from '@deepseek-ai/dsh-session';
import { MarkIndex } from '../plugin/checkpoint/marks.js';
import { landReport } from './support/marks.js';

/** The index of a log written by hand: only what the index reads of each event. */
function indexOf(log) {
  const events = log.map((event, seq) => ({ seq, time: seq, ...event }));
  return new MarkIndex({ header: {}, get seq() { return events.length; }, events }, 'checkpoint');
}

function resultEvent(callId, { meta, isError = false, text = '' }) {
  const block = { type: 'tool-result', toolCallId: callId, isError, content: [{ type: 'text', text }] };
  return {
    type: 'tool/result', surfaceOp: 'append',
    data: { meta, message: { source: { kind: 'tool', callId }, content: [block] } },
  };
}

test('malformed marks in a log are none', () => {
  const sound = { id: 1, logLength: 0 };
  const results = [
    'no record', null, { id: 0, logLength: 0 }, { id: 1.5, logLength: 0 }, { id: '1', logLength: 0 },
    { id: 1 }, { id: 1, logLength: -1 }, { id: 1, logLength: 99 }, { id: 1, logLength: NaN },
  ].map((rewindMark, at) => resultEvent(`c${at}`, { meta: { rewindMark } }));
  const failed = resultEvent('c9', { meta: { rewindMark: sound }, isError: true });
  assert.equal(indexOf([...results, failed]).latest(), undefined);
  assert.equal(indexOf([...results, failed]).take().id, 1);
  assert.equal(indexOf([resultEvent('c1', { meta: { rewindMark: sound } })]).latest().callId, 'c1');
});

test('a replaced assistant message is nobody\'s carrier', () => {
  const rewrite = (callId, of, text) => ({
    ...resultEvent(callId, { text }), surfaceOp: { op: 'replace', start: of, end: of }, sourceEventSeqs: [of],
  });
  const assistant = { type: 'assistant/message', data: { message: { content: [] } } };
  const log = [
    { ...assistant, surfaceOp: 'append' },
    resultEvent('c1', { meta: { rewindMark: { id: 1, logLength: 1 } } }),
    { ...assistant, surfaceOp: { op: 'replace', start: 0, end: 0 }, sourceEventSeqs: [0] },
    resultEvent('c2', {}),
    rewrite('c2', 3, 'cut'),
    rewrite('c2', 4, '[rewind report of mark 1] found'),
  ];
  assert.equal(indexOf(log.slice(0, -1)).latest().foldedAt, null);
  assert.equal(indexOf(log).latest().foldedAt, 5);
});

test('a mark inside run_code is dated by the start of its call, live and from the log alike', () => {
  const dispatch = (callId, at, more) => ({
    type: `tool/code-dispatch${at}`,
    data: { rootCallId: 'r', subCallId: callId, name: 'checkpoint', arguments: {}, ...more },
  });
  const settled = (isError) => dispatch('r:code:2', '', {
    isError,
    arguments: { objective: ' find ' },
    content: [{ type: 'text', text: '[checkpoint mark 1] Explore' }],
  });
  const log = [
    dispatch('r:code:1', '-start'), dispatch('r:code:2', '-start'),
    dispatch('r:code:1', '', { isError: false, content: [] }),
  ];
  const live = indexOf(log);
  const taken = live.take('find', { callId: 'r:code:2', rootCallId: 'r' });
  assert.deepEqual(taken, { id: 1, logLength: 2, callId: 'r', objective: 'find', foldedAt: null });
  live.observe({ ...settled(false), seq: 3 });
  assert.deepEqual(live.latest(), taken);
  assert.deepEqual(indexOf([...log, settled(false)]).latest(), taken);
  assert.equal(indexOf([...log, settled(true)]).latest(), undefined);
  assert.equal(indexOf([settled(false)]).latest(), undefined);
});

test('an indexed session is read once: later questions and appends do not touch the log', () => {
  const session = Session.create('s');
  const append = (text) => session.append(
    'user/message',
    createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } }),
    { surfaceOp: 'append' },
  );
  for (let at = 0; at < 5; at += 1) append('old');
  let reads = 0;
  const { events } = Object.getOwnPropertyDescriptors(Session.prototype);
  Object.defineProperty(session, 'events', { get: () => (reads += 1, events.get.call(session)) });
  const index = new MarkIndex(session, 'checkpoint');
  index.latest();
  assert.equal(reads, 1);
  for (let at = 0; at < 5; at += 1) {
    index.observe(append('new'));
    index.latest();
    index.complete(1);
  }
  assert.equal(reads, 1);
  assert.equal(index.take().logLength, 10);
  landReport(session, 1);
  index.observe(append('after something unpublished'));
  assert.notEqual(index.latest().foldedAt, null);
  assert.equal(index.take().logLength, 12);
  assert.equal(reads, 2);
});
