/**
 * Session to turn positions: the log is read once, as it grows, for the few entries that bound its turns; the
 * core keeps the table and decides (docs/turn-memory.md 2.5). What is kept grows with the turns alone.
 */
import { harness } from '../host/compat.js';
import { isReplacement } from '../host/events.js';
import { native } from '../native.js';

/** The `plugin` field of a checkpoint's source. */
export const PLUGIN = 'turn-memory';
/** The scope of a checkpoint that stands for a turn's whole process. */
export const WHOLE_TURN = 'whole-turn';
/** The `plugin` field of a session compaction's summary. */
const COMPACTION = 'compact';

const START = 1;
const END = 2;
const PERSON = 3;
const MESSAGE = 4;
const CHECKPOINT = 5;
const BOUNDARIES = new Map([
  ['turn/start', START],
  ['turn/end', END],
  ['compaction/start', 6],
  ['compaction/end', 7],
  ['session/end-seed', 8],
]);
const OLDEST_FORMAT = 4;
const NEWEST_FORMAT = 6;

/** @type {WeakMap<object, { table: object, read: number }>} */
const tables = new WeakMap();

/**
 * @param session - a session.
 * @param events - the log snapshot, where the caller has one already.
 * @returns its turn table, up to date with its log.
 */
export function turnsOf(session, events = undefined) {
  let state = tables.get(session);
  if (state === undefined) tables.set(session, state = { table: new native.TurnTable(), read: 0 });
  if (state.read < harness.logLength(session)) {
    const log = events ?? harness.events(session);
    feed(state.table, log, state.read);
    state.read = log.length;
  }
  return state.table;
}

function feed(table, events, from) {
  const rows = [];
  for (let seq = from; seq < events.length; seq += 1) {
    const event = events[seq];
    const kind = event.type === 'user/message' ? messageKind(event) : BOUNDARIES.get(event.type);
    if (kind === undefined) continue;
    const turn = kind <= END ? event.data.turn : kind === CHECKPOINT ? event.data.source.turn : 0;
    rows.push(kind, seq, turn, kind <= END ? event.time ?? NaN : 0);
  }
  if (rows.length > 0) table.feed(new Float64Array(rows));
}

function messageKind(event) {
  const source = event.data.source ?? {};
  if (!isReplacement(event)) return source.kind === 'user' ? PERSON : MESSAGE;
  const { version, turn } = source;
  const readable = version >= OLDEST_FORMAT && version <= NEWEST_FORMAT && Number.isInteger(turn);
  return readable && isWholeTurn(source) ? CHECKPOINT : undefined;
}

function isWholeTurn(source) {
  return source?.kind === 'plugin' && source.plugin === PLUGIN && source.scope === WHOLE_TURN;
}

/**
 * Finds the surface nodes that a turn's checkpoint would replace.
 *
 * @param session - the session.
 * @param number - the turn.
 * @param events - the log snapshot.
 * @returns their seqs, in surface order.
 * @throws the core's refusal, with its code.
 */
export function spanOf(session, number, events) {
  const table = turnsOf(session, events);
  const start = table.startOf(number);
  const { nodes } = session.surface;
  // From the tail back to the first node of an earlier turn: surface order follows the origins. The window is
  // filled from its end, so that it reads in surface order.
  let at = nodes.length;
  let free = window.length;
  let last = Infinity;
  while (at > 0 && last >= start) {
    at -= 1;
    const event = events[nodes[at]];
    let first = event.seq;
    last = first;
    if (isReplacement(event)) [first, last] = originsOf(events, event);
    if (free === 0) free = widen();
    free -= 4;
    window[free] = event.seq;
    window[free + 1] = first;
    window[free + 2] = last;
    window[free + 3] = flagsOf(event);
  }
  const [from, to] = table.span(number, window.subarray(free));
  return nodes.slice(at + from, at + to);
}

/** The window under construction; the core has read it before the next one begins. */
let window = new Uint32Array(1024);

/** Doubles the window, what it holds at its end; tells how much is free before that. */
function widen() {
  const { length } = window;
  const next = new Uint32Array(length * 2);
  next.set(window, length);
  window = next;
  return length;
}

function flagsOf(event) {
  const source = event.type === 'user/message' ? event.data.source : undefined;
  const foreign = isWholeTurn(source) || (source?.kind === 'plugin' && source.plugin === COMPACTION);
  return (event.type === 'assistant/message' ? 1 : 0) | (foreign ? 2 : 0);
}

/** Smallest and largest origin of everything that a replacement stands for. */
function originsOf(events, node) {
  let first = Infinity;
  let last = -1;
  const seen = new Set();
  const open = [node];
  while (open.length > 0) {
    const event = open.pop();
    if (!isReplacement(event)) {
      first = Math.min(first, event.seq);
      last = Math.max(last, event.seq);
      continue;
    }
    for (const source of event.sourceEventSeqs ?? []) {
      const cited = events[source];
      if (source >= event.seq || seen.has(source) || !isSurfaceType(cited?.type)) continue;
      seen.add(source);
      open.push(cited);
    }
  }
  return last < 0 ? [node.seq, node.seq] : [first, last];
}

function isSurfaceType(type) {
  return type === 'user/message' || type === 'assistant/message' || type === 'tool/result';
}

/**
 * The appended surface events of a turn, as the log holds them.
 *
 * @param facts - the turn, from the table.
 * @param events - the log snapshot.
 * @returns the events, in log order; to the log's end while the turn is open.
 */
export function recordOf({ start, end }, events) {
  const record = [];
  const last = Math.min(end ?? events.length - 1, events.length - 1);
  for (let seq = start + 1; seq <= last; seq += 1) {
    const event = events[seq];
    if (isSurfaceType(event.type) && !isReplacement(event)) record.push(event);
  }
  return record;
}

/**
 * The surface operations of the log part that a fork gets: up to the last `turn/end`.
 *
 * @param events - the log snapshot.
 * @returns four numbers an operation: seq, 1 for a replacement, its start, its end.
 */
export function forkPrefix(events) {
  const column = [];
  let length = 0;
  for (let seq = 0; seq < events.length; seq += 1) {
    const event = events[seq];
    if (event.type === 'turn/end') length = column.length;
    if (!isSurfaceType(event.type)) continue;
    const { surfaceOp: op } = event;
    if (isReplacement(event)) column.push(seq, 1, op.start ?? op.startSeq, op.end ?? op.endSeq);
    else column.push(seq, 0, 0, 0);
  }
  return new Uint32Array(column.slice(0, length));
}
