/** Segmenting and rendering a long log, natively and in plain JavaScript. */
import assert from 'node:assert/strict';
import { native } from '../../plugin/native.js';
import { scriptOf } from '../../plugin/turn-memory/script.js';
import { spanOf, turnsOf } from '../../plugin/turn-memory/turns.js';
import { median } from '../clock.js';
import { longLog } from './log.js';
import { PlainTable, plainDraft, plainSpan } from './plain.js';

const CAP = 20_000;
const RUNS = 9;

/** Milliseconds of processor time: on a machine that is shared, the clock on the wall measures the neighbours. */
function cpuTime() {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Follows a log turn by turn: whenever a turn ends, it is segmented and rendered, which is what the plugin does
 * while a session lives, up to the draft that a model is asked to write. Growing the log is not part of the
 * measurement.
 *
 * @returns milliseconds for the whole log.
 */
function follow(source, atTurnEnd) {
  const session = { seq: 0, events: [], surface: { nodes: [] } };
  let ms = 0;
  for (const event of source) {
    session.events.push(event);
    session.seq += 1;
    if (event.surfaceOp === 'append') session.surface.nodes.push(event.seq);
    if (event.type !== 'turn/end') continue;
    const from = cpuTime();
    atTurnEnd(session, event.data.turn);
    ms += cpuTime() - from;
  }
  return ms;
}

function byCore(after = ({ draft }) => draft.close()) {
  return (session, turn) => {
    const { events } = session;
    turnsOf(session, events);
    const span = spanOf(session, turn, events);
    const draft = native.draftTurn(scriptOf(span.map((seq) => events[seq]), turn), CAP, 2000);
    after({ draft, text: draft.floor(turn), unfinished: draft.unfinished });
  };
}

function byHand(after = () => {}) {
  const table = new PlainTable();
  return ({ events, surface }, turn) => {
    table.feed(events);
    const span = plainSpan(surface.nodes, events, table.turns.get(turn));
    after(plainDraft(span, events, turn, CAP));
  };
}

/** @returns medians of interleaved runs over a log of about `length` events, milliseconds for the whole log. */
export function measureSpeed(length) {
  const events = longLog(length);
  const turns = events.filter(({ type }) => type === 'turn/end').length;
  const check = [];
  follow(events, byCore(({ draft, ...result }) => {
    check.push({ ...result, contents: draft.segments.map(({ id }) => draft.read(id)) });
    draft.close();
  }));
  follow(events, byHand((result) => assert.deepEqual(result, check.shift())));
  const core = [];
  const hand = [];
  for (let run = 0; run < RUNS; run += 1) {
    core.push(follow(events, byCore()));
    hand.push(follow(events, byHand()));
  }
  return { events: events.length, turns, core: median(core), hand: median(hand) };
}
