/** How a fold lands (docs/rewind.md 3.3 to 3.5). What goes wrong in between is tried in `__test__/faults`. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Session } from '@deepseek-ai/dsh-session';
import { isRewindReportSource, REWIND_REPORT_SOURCE } from '../../index.js';
import { restored } from '../support/marks.js';
import { say } from '../support/script.js';
import { toWire, wireFault } from '../support/wire.js';
import { OUTPUT, REPORT, sceneOf, until } from './scene.js';

/** Two siblings, three segments: every kind of edit. */
async function rich(t, options) {
  const scene = await sceneOf(t, options);
  scene.person('find the port');
  scene.says({ calls: [['cp', 'checkpoint', '{}'], ['s1', 'read', '{}'], ['s2', 'read', '{}']] });
  scene.take({ callId: 'cp' });
  scene.result('cp', 'marked');
  scene.siblings = [scene.result('s1'), scene.result('s2')];
  scene.first = scene.look('c1');
  scene.person('go on');
  scene.second = scene.look('c2');
  scene.person('and on');
  scene.third = scene.look('c3');
  scene.rewind();
  return scene;
}

/** Folds, and returns the events that the fold appended. */
async function folded(scene) {
  const from = scene.session.seq;
  scene.outcome = await scene.fold();
  return scene.session.events.slice(from);
}

const kindOf = ({ type, data }) => (type === 'user/message' ? data.source.plugin : type);

test('report first, then earlier segments, then siblings, each behind its price', async (t) => {
  const scene = await rich(t);
  const priceOf = (seqs) => seqs.reduce((sum, seq) =>
    sum + scene.ctx.tokenMeter.estimateMessage(scene.session.deriveEventMessage(scene.session.events[seq])), 0);
  const runs = [scene.third, scene.first, scene.second, [scene.siblings[0]], [scene.siblings[1]]];
  const prices = runs.map(priceOf);
  const events = await folded(scene);
  const edits = events.filter(({ surfaceOp }) => surfaceOp);
  assert.deepEqual(edits.map(kindOf), ['rewind', 'rewind-pointer', 'rewind-pointer', 'tool/result', 'tool/result']);
  assert.deepEqual(edits.map(({ sourceEventSeqs }) => sourceEventSeqs), runs);
  assert.equal(events.length, 10);
  for (const [at, run] of runs.entries()) {
    const range = { start: run[0], end: run.at(-1) };
    const price = events[2 * at];
    assert.deepEqual([price.type, price.data], [
      'compaction/prune', { shadowedRange: range, shadowedSeqs: run, shadowedTokenCount: prices[at] },
    ]);
    assert.deepEqual(events[2 * at + 1].surfaceOp, { op: 'replace', ...range });
  }
});

test('without a meter nothing is priced', async (t) => {
  const scene = await rich(t, { meter: false });
  assert.deepEqual((await folded(scene)).map(kindOf), [
    'rewind', 'rewind-pointer', 'rewind-pointer', 'tool/result', 'tool/result',
  ]);
});

test('the context meter is exact after the fold', async (t) => {
  const scene = await rich(t);
  const shown = () => scene.ctx.sessionProjections.snapshot(scene.session).values.contextBreakdown.messageTokens;
  const counted = () => scene.session.deriveMessages()
    .reduce((sum, message) => sum + scene.ctx.tokenMeter.estimateMessage(message), 0);
  assert.equal(shown(), counted());
  const before = counted();
  const { foldedTokens, reportTokens } = await scene.fold();
  assert.equal(shown(), counted());
  assert.equal(before - counted(), foldedTokens - reportTokens);
});

test('the surface is wire-valid after every single append', async (t) => {
  const scene = await rich(t);
  const from = scene.session.seq;
  await scene.fold();
  const { events } = scene.session;
  for (let length = from; length <= events.length; length += 1) {
    const at = Session.fromRestore('step', structuredClone(events.slice(0, length)), { ...scene.session.header, id: 'step' });
    const messages = at.deriveMessages();
    const flight = messages.findLastIndex(({ role }) => role === 'assistant');
    messages.splice(flight);
    assert.equal(wireFault(toWire({ messages })), undefined, `after event ${length - 1}`);
  }
});

test('one synchronous block, and completeFold is called in it', async (t) => {
  const scene = await rich(t);
  let seen;
  scene.ctx.on('session/event', (_session, event) => {
    if (seen || !event.surfaceOp || event.surfaceOp === 'append') return;
    seen = {};
    queueMicrotask(() => Object.assign(seen, { length: scene.session.seq, told: scene.provider.told.length }));
  });
  await scene.fold();
  assert.deepEqual(seen, { length: scene.session.seq, told: 1 });
  assert.deepEqual(scene.provider.told, [['scene', 1]]);
});

test('completeFold is awaited', async (t) => {
  const scene = await rich(t);
  const called = Promise.withResolvers();
  const answer = Promise.withResolvers();
  scene.provider.completeFold = () => {
    called.resolve();
    return answer.promise;
  };
  const order = [];
  const fold = (async () => order.push((await scene.fold()).foldedNodes))();
  await called.promise;
  await new Promise(setImmediate);
  order.push('told');
  answer.resolve();
  await fold;
  assert.deepEqual(order, ['told', 8]);
});

test('3.4: the report says in its source what was folded; only reports are known as such', async (t) => {
  const scene = await rich(t);
  const events = await folded(scene);
  const { source } = scene.report().data;
  const { warning, ...facts } = scene.outcome;
  assert.equal(warning, undefined);
  for (const [field, value] of Object.entries(facts)) assert.deepEqual(source[field], value, field);
  assert.deepEqual({ kind: source.kind, plugin: source.plugin, markId: source.markId }, { ...REWIND_REPORT_SOURCE, markId: 1 });
  const known = events.filter(({ data }) => isRewindReportSource(data.source));
  assert.deepEqual(known, [scene.report()]);
  for (const other of ['rewind-guard', 'rewind-pointer', 'rewind-instruction', 'rewind-prune']) {
    assert.equal(isRewindReportSource({ kind: 'plugin', plugin: other }), false);
  }
  for (const none of [undefined, null, {}, { kind: 'user' }, { kind: 'rewind', plugin: 'rewind' }]) {
    assert.equal(isRewindReportSource(none), false);
  }
});

test('3.4, C8, R2: a reload gives the same messages, and the report keeps its facts', async (t) => {
  const scene = await rich(t);
  const events = await folded(scene);
  const again = restored(scene.session);
  assert.equal(JSON.stringify(again.deriveMessages()), JSON.stringify(scene.session.deriveMessages()));
  assert.deepEqual(again.events[scene.report().seq], scene.report());
  assert.deepEqual([...new Set(events.map(({ type }) => type))].toSorted(), ['compaction/prune', 'tool/result', 'user/message']);
  for (const { type, data } of events) {
    if (type === 'user/message') assert.equal('turn' in data || 'step' in data, false);
  }
});

test('R5, W1, W2, P11: nothing outside the folded nodes differs by a byte', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.says({ r: 'thoughts that must come back', t: 'old', calls: [['c0', 'read', '{"path":"z"}']] });
  scene.result('c0');
  scene.mark();
  scene.look('c1');
  scene.says({ r: 'now I know', calls: [['c9', 'bash', '{}'], ['rw', 'rewind', '{}']] });
  const log = JSON.stringify(scene.session.events);
  const before = scene.session.deriveMessages().map((message) => JSON.stringify(message));
  await scene.fold();
  assert.equal(JSON.stringify(scene.session.events.slice(0, JSON.parse(log).length)), log);
  const after = scene.session.deriveMessages().map((message) => JSON.stringify(message));
  assert.deepEqual([...after.slice(0, 5), after[6]], [...before.slice(0, 5), before[7]]);
});

test('3.5: a stamp that is refused once is tried once more and is no warning', async (t) => {
  const scene = await rich(t);
  let calls = 0;
  scene.provider.completeFold = async () => {
    calls += 1;
    if (calls === 1) throw new Error('disk full');
  };
  assert.equal((await scene.fold()).warning, undefined);
  assert.equal(calls, 2);
});

test('3.5, X7: refused twice, the fold is a success with a warning, and the log is the truth from then on', async (t) => {
  const scene = await rich(t, { report: [say(REPORT), say('Second report.')] });
  scene.provider.completeFold = () => {
    throw new Error('disk full');
  };
  const { warning, foldedNodes } = await scene.fold();
  assert.equal(foldedNodes, 8);
  assert.match(warning, /disk full/);
  const told = [];
  scene.provider.completeFold = async (...args) => void told.push(args);
  scene.result('rw', 'folded');
  scene.look('c9', OUTPUT);
  scene.rewind();
  assert.equal((await scene.refused()).code, 'EMPTY_REGION');
  assert.deepEqual(told, [['scene', 1]]);
  assert.equal(scene.asked.length, 1);
});

test('3.5, R1: a crash between the append and the stamp: the resumed session is stamped and not folded again', async (t) => {
  const first = await rich(t);
  first.provider.completeFold = () => new Promise(() => {});
  const stop = new AbortController();
  const fold = first.fold(stop.signal);
  await until(() => first.session.events.some(({ data }) => isRewindReportSource(data.source)));
  const log = structuredClone(first.session.events);
  stop.abort();
  await fold;

  const second = await sceneOf(t);
  second.enter('resumed', { seed: log, meta: {} });
  second.agent = { ...second.agent, id: 'resumed', session: second.session };
  second.provider.mark = first.provider.mark;
  const { code, message } = await second.refused();
  assert.equal(code, 'EMPTY_REGION');
  assert.match(message, /report stands/);
  assert.deepEqual(second.provider.told, [['resumed', 1]]);
  assert.equal(second.asked.length, 0);
});
