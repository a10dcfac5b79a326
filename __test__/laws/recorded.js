/**
 * Recorded sessions as logs that can be folded: rows to events, prefixes of them as sessions of their own.
 */
import { decodeStorageRecord, Session } from '@deepseek-ai/dsh-session';
import { sessions } from '../support/data.js';

const PACKED = new Set(['text-chunks', 'reasoning-chunks', 'tool-call-chunks']);

/**
 * @param rows - the rows of a log after its header, as they stand in the file.
 * @returns its events: chunk runs unpacked, seqs and times put in where the recording left them out.
 */
export function eventsOf(rows) {
  const events = [];
  for (const { time, ...row } of rows) {
    const seq = events.length;
    const record = PACKED.has(row.type)
      ? { type: row.type, seq0: seq, time0: time ?? seq, data: row.data }
      : { ...row, seq, time: time ?? seq };
    events.push(...decodeStorageRecord(record));
  }
  return events;
}

/**
 * @param set - `dsh` or `trajectories`.
 * @returns the recorded sessions of the set as `{ name, events }`; the events are frozen and shared.
 */
export function recordings(set) {
  return sessions(set).map(({ name, rows }) => {
    const [, ...log] = rows();
    const { events } = Session.create(name, eventsOf(log));
    // The marker of the seed that the session puts at the end is not part of the recording.
    return { name, events: events.at(-1).type === 'session/end-seed' ? events.slice(0, -1) : events };
  });
}

/**
 * @param events - frozen events of a recording.
 * @param length - how many of them.
 * @param id - the id of the new session.
 * @returns a session of its own that holds the first `length` events.
 */
export function prefix(events, length, id) {
  const header = { version: 0, id, createdAt: 0 };
  // The marker goes in as part of the log, so that the session does not put one there by itself.
  const marker = { type: 'session/end-seed', seq: length, time: 0, data: {} };
  return Session.fromRestore(id, [...events.slice(0, length), marker], header);
}
