/**
 * The reader of replacements of a session (`ReplacementReader` of the core), kept with the session and fed
 * only what the log gained since: numbers and interned ids, never text.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import { native } from '../native.js';
import { harness } from './compat.js';
import { RewindError } from './error.js';
import { isReplacement, resultOf } from './events.js';

const KINDS = new Map([['user/message', 0], ['assistant/message', 1], ['tool/result', 2], ['tool/call', 3]]);

/** @type {WeakMap<object, { reader: object, fed: number, ids: Map<string, number> }>} */
const states = new WeakMap();

/**
 * @param {object} session - a session of the harness.
 * @returns {object} its reader, up to date with its log.
 */
export function replacementsOf(session) {
  let state = states.get(session);
  if (state === undefined) {
    state = { reader: new native.ReplacementReader(), fed: 0, ids: new Map() };
    states.set(session, state);
  }
  if (state.fed < harness.logLength(session)) {
    const events = harness.events(session);
    const column = [];
    for (let seq = state.fed; seq < events.length; seq += 1) put(column, events[seq], state.ids);
    state.fed = events.length;
    state.reader.feed(Uint32Array.from(column));
  }
  return state.reader;
}

/**
 * Gives back a slice of what replacements took out of a session. Text crosses batch by batch and once, so
 * that a large session blocks nobody for long.
 *
 * @param {object} session - the session.
 * @param {object} ask - the keys: `seq`, `path`, `pattern`, `offset`, `limit`, and `before` for a whole fold.
 * @param {number} maxChars - the bound on the slice, in UTF-16 code units.
 * @param {AbortSignal} signal - its reason is thrown between batches.
 * @returns {Promise<string>} the slice.
 * @throws {RewindError} `NOTHING_FOLDED`, `NO_SUCH_SEQ`, `NOT_FOLDED`, `NO_MATCH`, `BAD_PATTERN` or
 *   `BAD_QUERY`, saying what there is.
 */
export async function recallText(session, ask, maxChars, signal) {
  const run = classified(() => replacementsOf(session)
    .recall(JSON.stringify(ask), harness.logLength(session), maxChars));
  for (let seqs = run.wants(); seqs.length > 0; seqs = run.wants()) {
    signal.throwIfAborted();
    // `JSON.stringify` writes lone surrogates as escapes, so nothing is lost on the way.
    classified(() => run.read(JSON.stringify(Array.from(seqs, (seq) => harness.eventAt(session, seq)))));
    await nextTick();
  }
  return classified(() => run.close());
}

/** A refusal of the core as this package's error, so that its code reaches the log. */
function classified(action) {
  try {
    return action();
  } catch (error) {
    throw new RewindError(error.code, error.message, { cause: error });
  }
}

function put(column, event, ids) {
  const kind = KINDS.get(event.type);
  if (kind === undefined) return;
  if (isReplacement(event)) {
    const { surfaceOp: op } = event;
    column.push(kind, event.seq, 3, 1, op.start ?? op.startSeq, op.end ?? op.endSeq);
    return;
  }
  const named = callIdsOf(event);
  column.push(kind, event.seq, 1 + named.length, 0);
  for (const id of named) {
    if (!ids.has(id)) ids.set(id, ids.size);
    column.push(ids.get(id));
  }
}

function callIdsOf(event) {
  switch (event.type) {
    case 'assistant/message':
      return event.data.message.content.filter(({ type }) => type === 'tool-call').map(({ id }) => id);
    case 'tool/result':
      return [resultOf(event).callId];
    case 'tool/call':
      return [event.data.callId];
    default:
      return [];
  }
}
