/**
 * Recorded sessions: a mark at every place of the log and a fold at its end, and a fold at every place with a
 * mark some way before it, each with every law around it. What was folded and what was refused is counted by
 * class; a refusal that a person would not understand is a fault. `TOOL_REWIND_LAWS_STRIDE=1` tries the
 * largest file at every place too.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { testWithData } from '../support/data.js';
import { eventsOf, prefix, recordings } from './recorded.js';
import { COMPOSITIONS, mountService } from './service.js';
import { Trial } from './trial.js';

const REPLY = ['prose', 160, 4];
/** Above this many events a file is tried at every n-th place only, unless the stride is given. */
const LARGE = 900;
const STRIDE = Number(process.env.TOOL_REWIND_LAWS_STRIDE ?? 0);
/** How many surface nodes before a fold its mark is taken. */
const REACHES = [3, 12, 40];

/** The codes that are sentences for a person, and what each sentence must hold. */
const UNDERSTOOD = {
  EMPTY_REGION: /Nothing to fold|already folded|is folded/,
  UNBALANCED: /seq \d+/,
  SHRINK: /characters/,
};

function* places(events) {
  const stride = STRIDE || Math.ceil(events.length / LARGE);
  for (let length = 0; length <= events.length; length += stride)
    yield { length: events.length, mark: length };
  const surface = events.filter(({ surfaceOp }) => surfaceOp !== undefined).map(({ seq }) => seq);
  for (const reach of REACHES) {
    for (let at = reach; at < surface.length; at += stride)
      yield { length: surface[at] + 1, mark: surface[at - reach] + 1 };
  }
}

async function foldAll({ world, driver }, { name, events }) {
  const tally = {};
  const faults = [];
  let count = 0;
  for (const { length, mark } of places(events)) {
    count += 1;
    const stage = {
      session: prefix(events, length, `${name}-${count}`),
      marks: [{ id: 1, logLength: mark }],
      calls: [],
    };
    const trial = new Trial(world, driver, stage);
    await trial.fold({ via: 'here', during: [], reply: { text: REPLY } });
    for (const [outcome, times] of Object.entries(trial.tally))
      tally[outcome] = (tally[outcome] ?? 0) + times;
    faults.push(...trial.breaches.map((breach) => `${name}, mark ${mark} of ${length} events: ${breach}`));
    const said = UNDERSTOOD[trial.refusal?.code];
    if (trial.refusal && !said?.test(trial.refusal.message))
      faults.push(`${name}: not understood: ${trial.refusal}`);
  }
  return { count, tally, faults };
}

for (const set of ['dsh', 'trajectories']) {
  testWithData(`recorded sessions (${set}): mark and fold at every place`, async (t) => {
    // Recordings do not keep the harness's companions' rules to the letter, the package's own must hold on
    // them.
    const mounted = await mountService({ ...COMPOSITIONS[0], meter: false, companions: false });
    t.after(() => mounted.dispose());
    const total = {};
    for (const recording of recordings(set)) {
      const { count, tally, faults } = await foldAll(mounted, recording);
      t.diagnostic(`${recording.name}: ${count} places, ${JSON.stringify(tally)}`);
      assert.deepEqual(faults.slice(0, 5), []);
      for (const [outcome, times] of Object.entries(tally)) total[outcome] = (total[outcome] ?? 0) + times;
    }
    t.diagnostic(`${set}: ${JSON.stringify(total)}`);
    assert.ok(total.OK > 0);
  });
}

test('rows without seqs and with packed chunks become the events that they stand for', () => {
  const delta = (seq, text) => ({
    type: 'assistant/chunk',
    seq,
    time: seq,
    data: { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text } },
  });
  const packed = { type: 'text-chunks', data: { turn: 1, step: 1, index: 0, dt: [1], texts: ['a', 'b'] } };
  assert.deepEqual(
    eventsOf([{ type: 'turn/start', data: { turn: 1 } }, packed, { type: 'turn/end', time: 9, data: {} }]),
    [
      { type: 'turn/start', seq: 0, time: 0, data: { turn: 1 } },
      delta(1, 'a'),
      delta(2, 'b'),
      { type: 'turn/end', seq: 3, time: 9, data: {} },
    ],
  );
});
