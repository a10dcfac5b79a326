/**
 * What a fold costs, in counts and not in seconds, so that no busy machine hides a regression: calls across the border
 * to the core, snapshots of the log, and events read. What allocates in the core is counted in `tests/fold/counted.rs`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendTurn, growSession, reopen } from '../../benches/sessions.js';
import { follow } from '../../plugin/host/abort.js';
import { observeReport } from '../../plugin/host/reports.js';
import { observe } from '../../plugin/host/surface.js';
import { native } from '../../plugin/native.js';
import { Config } from '../../plugin/rewind/config.js';
import { Fold } from '../../plugin/rewind/fold.js';

const REPORT = '## Findings\nNothing of note.';
const STEPS_A_TURN = 20;

/** Wraps the core's functions, and the methods of what they return, for the time of `work`. */
async function countingCalls(work) {
  const calls = [];
  const own = Object.entries(native);
  const wrapped = new Map();
  const wrap = (target, name, body) => {
    target[name] = function counted(...args) {
      calls.push(name);
      const result = body.apply(this, args);
      if (typeof result === 'object' && result !== null) wrapMethods(Object.getPrototypeOf(result));
      return result;
    };
  };
  const wrapMethods = (prototype) => {
    if (prototype === null || wrapped.has(prototype) || Object.hasOwn(prototype, 'isPrototypeOf')) return;
    if ([Array.prototype, Promise.prototype, Map.prototype].includes(prototype) || ArrayBuffer.isView(prototype)) return;
    const methods = Object.entries(Object.getOwnPropertyDescriptors(prototype))
      .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function');
    wrapped.set(prototype, methods);
    for (const [name, { value }] of methods) wrap(prototype, name, value);
  };
  for (const [name, value] of own) {
    if (typeof value === 'function' && Object.keys(value.prototype ?? {}).length === 0) wrap(native, name, value);
  }
  try {
    await work();
  } finally {
    for (const [name, value] of own) native[name] = value;
    for (const [prototype, methods] of wrapped) {
      for (const [name, descriptor] of methods) Object.defineProperty(prototype, name, descriptor);
    }
  }
  return calls;
}

/** Counts what is read of the session's log from now on: snapshots taken, and the seqs read of them. */
function watchReads(session) {
  const reads = { snapshots: 0, seqs: new Set() };
  const { get } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(session), 'events');
  Object.defineProperty(session, 'events', {
    get() {
      reads.snapshots += 1;
      return new Proxy(get.call(session), {
        get(events, key) {
          if (typeof key === 'string' && /^\d+$/.test(key)) reads.seqs.add(Number(key));
          return events[key];
        },
      });
    },
  });
  return reads;
}

/** Folds the last `turns` of a live session of `length` events, and tells what that took. */
async function fold(length, turns, settings = {}) {
  const base = growSession(length);
  base.append('request/header', { header: { config: { provider: 'test', model: 'test' } }, reason: 'initial' });
  const logLength = base.seq;
  const nodes = base.surface.nodes.length;
  const said = base.events.findLast(({ type }) => type === 'assistant/message').seq;
  for (let turn = 1; turn <= turns; turn += 1) appendTurn(base, 100_000 + turn);
  const session = reopen(base);
  // A live session: each event was seen when it was appended.
  for (const event of session.events) {
    observe(session, event);
    observeReport(session, event);
  }
  const checkpoint = { latestMark: () => ({ id: 1, logLength }), completeFold: () => undefined };
  const llm = {
    resolveModelInfo: async () => ({}),
    async* stream() {
      yield { type: 'text-delta', index: 0, text: REPORT };
      yield { type: 'finish', reason: { kind: 'stop' } };
    },
  };
  const ctx = { get: (name) => ({ checkpoint })[name], llm };
  const agent = { session, options: { provider: 'test', model: 'test' } };
  const run = new Fold({ ctx, config: Config(settings) }, agent, follow());
  let effects = 0;
  const { perform } = run;
  run.perform = (effect) => {
    effects += 1;
    return perform.call(run, effect);
  };
  const reads = watchReads(session);
  let result;
  const calls = await countingCalls(async () => { result = await run.run(); });
  assert.equal(result.foldedNodes, turns * (1 + 2 * STEPS_A_TURN));
  return { calls, effects, snapshots: reads.snapshots, read: reads.seqs, nodes, said, logLength, size: base.seq };
}

const SIZES = [[1_000, 1], [1_000, 20], [5_000, 1], [5_000, 20]];
/** In the order of the walk that `docs/design.md` draws; each is one crossing into the core. */
const CALLS = [
  'runFold', 'answerFold', 'planFold', 'weighRegion', 'request', ...Array(3).fill('answerFold'), 'edits', 'compose',
  'weighLanding', 'answerFold',
];

test('a fold crosses the border as often on a long log and a large region as on a short one', async () => {
  for (const [length, turns] of SIZES) {
    const { calls, effects, snapshots } = await fold(length, turns);
    assert.deepEqual(calls, CALLS, `${length} events, ${turns} turns`);
    assert.deepEqual({ effects, snapshots }, { effects: 5, snapshots: 6 }, `${length} events, ${turns} turns`);
  }
});

test('without a model a fold reads its region, and next to nothing before the mark', async () => {
  for (const [length, turns] of SIZES) {
    const { effects, snapshots, read, said, size } = await fold(length, turns, { report: 'receipt' });
    assert.deepEqual({ effects, snapshots }, { effects: 4, snapshots: 5 }, `${length} events, ${turns} turns`);
    assert.ok(read.size <= size - said, `${read.size} of ${size - said} events were read`);
    // The last message before the mark, and what stands between the two, may be looked at.
    const before = [...read].filter((seq) => seq < said);
    assert.deepEqual(before, [], 'read before the last message before the mark');
  }
});

test('with a model the rest of the log is read as far as it is sent: the surface, and its last turn', async () => {
  for (const [length, turns] of SIZES) {
    const { read, logLength, nodes } = await fold(length, turns);
    const before = [...read].filter((seq) => seq < logLength);
    // And the last turn once more, for what the request's header and the open turn say.
    assert.ok(before.length <= nodes + 3 * STEPS_A_TURN + 3, `${before.length} events before the mark, ${nodes} nodes on the surface there`);
  }
});
