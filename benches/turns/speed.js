/** Segmenting and rendering a long log, natively and in plain JavaScript, and what either keeps in memory. */
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { native } from '../../plugin/native.js';
import { scriptOf } from '../../plugin/turn-memory/script.js';
import { spanOf, turnsOf } from '../../plugin/turn-memory/turns.js';
import { median, time } from '../clock.js';
import { growSession } from '../sessions.js';
import { PlainTable, plainDraft, plainSpan } from './plain.js';

const CAP = 20_000;
const RUNS = 9;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/**
 * Follows a log turn by turn: whenever a turn ends, it is segmented and rendered, which is what the plugin does
 * while a session lives, up to the draft that a model is asked to write. Growing the log is not part of the measurement.
 */
class Follower {
  constructor(source) {
    this.source = source;
    this.session = { seq: 0, events: [], surface: { nodes: [] } };
    this.ms = 0;
  }

  run(atTurnEnd) {
    const { session } = this;
    for (const event of this.source) {
      session.events.push(event);
      session.seq += 1;
      if (event.surfaceOp === 'append') session.surface.nodes.push(event.seq);
      if (event.type !== 'turn/end') continue;
      const { ms } = time(() => atTurnEnd(session, event.data.turn));
      this.ms += ms;
    }
    return this.ms;
  }
}

function byCore() {
  return (session, turn) => {
    const { events } = session;
    turnsOf(session, events);
    const span = spanOf(session, turn, events);
    const draft = native.draftTurn(scriptOf(span.map((seq) => events[seq]), turn), CAP, 2000);
    return { draft, text: draft.floor(turn), unfinished: draft.unfinished };
  };
}

function byHand() {
  const table = new PlainTable();
  return ({ events, surface }, turn) => {
    table.feed(events);
    const span = plainSpan(surface.nodes, events, table.turns.get(turn));
    return plainDraft(span, events, turn, CAP);
  };
}

/** @returns medians of interleaved runs over a log of about `length` events, milliseconds for the whole log. */
export function measureSpeed(length) {
  const { events } = growSession(length);
  const turns = events.filter(({ type }) => type === 'turn/end').length;
  const check = [];
  new Follower(events).run(keep(byCore(), ({ draft, ...result }) => check.push({ ...result, contents: readAll(draft) })));
  new Follower(events).run(keep(byHand(), (result) => assert.deepEqual(result, check.shift())));
  const core = [];
  const hand = [];
  for (let run = 0; run < RUNS; run += 1) {
    core.push(new Follower(events).run(byCore()));
    hand.push(new Follower(events).run(byHand()));
  }
  return { events: events.length, turns, core: median(core), hand: median(hand) };
}

function readAll(draft) {
  return draft.segments.map(({ id }) => draft.read(id));
}

function keep(work, take) {
  return (...args) => take(work(...args));
}

/** @returns bytes that stay in use after the last turn of a log was segmented and rendered, its draft still held. */
export function measureMemory(length) {
  const { events } = growSession(length);
  const session = { seq: events.length, events, surface: { nodes: events.filter((e) => e.surfaceOp).map(({ seq }) => seq) } };
  const turn = events.at(-1).data.turn;
  const before = inUse();
  const table = turnsOf(session, events);
  const span = spanOf(session, turn, events);
  const draft = native.draftTurn(scriptOf(span.map((seq) => events[seq]), turn), CAP, 2000);
  const bytes = inUse() - before;
  assert.ok(table && draft.unfinished.length > 0);
  return { events: events.length, bytes: Math.max(0, bytes) };
}

function inUse() {
  for (let pass = 0; pass < 3; pass += 1) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
