/** Moves of a checkpoint scenario: calls that mark, and what a fold would leave in the log. */
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { Session } from '@deepseek-ai/dsh-session';
import { call } from './script.js';

/**
 * @param id - the call's id.
 * @param objective - the objective, or undefined for none.
 * @returns a scripted call of the checkpoint tool.
 */
export function markCall(id, objective) {
  return call(id, 'checkpoint', objective === undefined ? {} : { objective });
}

/**
 * @param session - a session.
 * @returns a copy of it as a resume builds it from storage, detached from any store.
 */
export function restored(session) {
  return Session.fromRestore(session.id, structuredClone(session.events), structuredClone(session.header));
}

/**
 * Replaces a stretch of the surface by a report, as a fold's commit does.
 *
 * @param session - the session.
 * @param markId - the mark that the report names.
 * @param start - the first seq to replace; the last node of the surface by default.
 * @param source - further fields of the message's source, or ones to override.
 * @returns the report's event.
 */
export function landReport(session, markId, start = session.surface.nodes.at(-1), source = {}) {
  const { nodes } = session.surface;
  const shadowed = nodes.slice(nodes.indexOf(start));
  return session.append(
    'user/message',
    createUserMessage({
      content: [{ type: 'text', text: 'report' }],
      source: { kind: 'plugin', plugin: 'rewind', markId, ...source },
    }),
    { surfaceOp: { op: 'replace', start, end: shadowed.at(-1) }, sourceEventSeqs: shadowed },
  );
}

/**
 * Rewrites the text of one tool result in place, as a fold does to the siblings of a checkpoint call.
 *
 * @param session - the session; a turn must be open where the invariant companions are mounted.
 * @param callId - the call whose last result is rewritten.
 * @param text - the new text.
 * @returns the rewriting event.
 */
export function rewriteResult(session, callId, text) {
  const { seq, data } = resultsOf(session, callId).at(-1);
  const [block] = data.message.content;
  return session.append(
    'tool/result',
    { ...data, message: { ...data.message, content: [{ ...block, content: [{ type: 'text', text }] }] } },
    { surfaceOp: { op: 'replace', start: seq, end: seq }, sourceEventSeqs: [seq] },
  );
}

/**
 * @param session - a session.
 * @param callId - a tool call.
 * @returns the `tool/result` events of that call, rewritten ones last.
 */
export function resultsOf(session, callId) {
  return session.events.filter(({ type, data }) =>
    type === 'tool/result' && data.message.source.callId === callId);
}
