/**
 * How a landed report is known in a log (docs/rewind.md 1.3, 3.4). The log is the truth about what is folded:
 * a mark whose report stands in it is folded, whatever a checkpoint service remembers (docs/rewind.md 1.8, 3.5).
 */
import { harness } from './compat.js';
import { isReplacement, resultOf } from './events.js';
import { assistantBefore } from './turn.js';

/** The `plugin` field of a report's message source; nothing but reports carries it. */
export const REPORT_PLUGIN = 'rewind';

/** The opening goes on with a space or a line, which tells its end from a bracket in the mark's id. */
const HEAD = /^\[rewind report of mark (.+?)\](?=\s|$)/;
const indexes = new WeakMap();

/** @returns whether a message source marks a report of this package, and not its guard or pointers. */
export function isReportSource(source) {
  return source?.kind === 'plugin' && source.plugin === REPORT_PLUGIN;
}

/**
 * Tells whether an event carries a report, and of which mark. A report in a tool result is one only for a
 * call that stands in its mark's carrier; the caller, who knows the carrier, compares `callId`. Text that
 * merely reads like a report, in an appended result, is none.
 *
 * @param {object} event - a session event.
 * @returns {{ markId: number | string, callId?: string } | undefined} the mark, and the call for a report in
 * a result.
 */
export function reportOf(event) {
  if (event.type === 'user/message') {
    const { source } = event.data;
    return isReportSource(source) && source.markId !== undefined ? { markId: source.markId } : undefined;
  }
  if (event.type !== 'tool/result' || !isReplacement(event)) return undefined;
  const { callId, blocks } = resultOf(event);
  const found = HEAD.exec(blocks[0]?.type === 'text' ? blocks[0].text : '');
  if (found === null) return undefined;
  const number = Number(found[1]);
  return { markId: String(number) === found[1] ? number : found[1], callId };
}

/** The result that a chain of one-node rewrites goes back to; undefined where a log cites none. */
function appendedResult(events, event) {
  let at = event;
  while (isReplacement(at)) {
    const { seq: above, sourceEventSeqs = [] } = at;
    at = events[sourceEventSeqs.find((seq) => seq < above && events[seq].type === 'tool/result')];
  }
  return at;
}

/**
 * Finds the message whose call a rewritten result answers: ids come again, so it is the last one before the result as
 * it was appended.
 *
 * @param events - the log snapshot.
 * @param event - the rewritten result.
 * @param callId - its call.
 * @returns the assistant message and the appended result as `{ carrier, result }`, each undefined where there is none.
 */
export function carrierOf(events, event, callId) {
  const calls = ({ data }) => data.message.content.some((block) => block.type === 'tool-call' && block.id === callId);
  const result = appendedResult(events, event);
  return { result, carrier: result && assistantBefore(events, result.seq, calls) };
}

/** Whether a rewritten result answers a call of the carrier that took a mark (docs/rewind.md 1.3). */
function inCarrier(events, event, callId, logLength) {
  const { carrier, result } = carrierOf(events, event, callId);
  return carrier !== undefined && result.seq >= logLength && assistantBefore(events, logLength) === carrier;
}

function indexOf(session) {
  let index = indexes.get(session);
  if (!index) indexes.set(session, index = { read: 0, reports: [] });
  return index;
}

function read(index, event) {
  index.read += 1;
  try {
    const report = reportOf(event);
    // Written out: one is kept for each report of a session, and a spread keeps its fields in a second object.
    if (report) index.reports.push({ markId: report.markId, callId: report.callId, seq: event.seq });
  } catch {
    // An imported log may hold an event of no known shape; it is no report of ours.
  }
}

/**
 * Takes in one event as it is published, so that no later question has to read the log for it.
 *
 * @param session - the session that published the event.
 * @param event - the event, exactly as logged; one out of turn is left to the next question.
 */
export function observeReport(session, event) {
  const index = indexOf(session);
  if (index.read === event.seq) read(index, event);
}

/** The session's reports in log order, each event read once. */
function reportsIn(session, events) {
  const index = indexOf(session);
  while (index.read < events.length) read(index, events[index.read]);
  return index.reports;
}

/**
 * Finds the report of a mark in the log.
 *
 * @param session - the session whose log is read, each event once.
 * @param mark - `{ id, logLength }`; a report is only a mark's where it came after the mark, for another
 * session's log, inherited by a fork, may use the same ids.
 * @returns the report's event, undefined while the mark is not folded.
 */
export function findReport(session, { id, logLength }) {
  const events = harness.events(session);
  const found = reportsIn(session, events).findLast(({ markId, callId, seq }) => String(markId) === String(id)
    && seq >= logLength && (callId === undefined || inCarrier(events, events[seq], callId, logLength)));
  return found && events[found.seq];
}

/**
 * @param session - a session in which a fold has just landed.
 * @param id - the fold's mark.
 * @returns the report's event, wherever the mark stands in the log.
 */
export function latestReport(session, id) {
  const events = harness.events(session);
  const found = reportsIn(session, events).findLast(({ markId }) => String(markId) === String(id));
  return found && events[found.seq];
}
