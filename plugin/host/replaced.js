/**
 * The reader of replacements of a session (`ReplacementReader` of the core), kept with the session and fed only
 * what the log gained since: numbers and interned ids, never text.
 */
import { native } from '../native.js';
import { harness } from './compat.js';
import { resultOf } from './events.js';

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

function put(column, event, ids) {
  const kind = KINDS.get(event.type);
  if (kind === undefined) return;
  const { surfaceOp: op } = event;
  if (op?.op === 'replace') {
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
