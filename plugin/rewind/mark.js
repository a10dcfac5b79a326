/** A mark as its checkpoint service tells it, read with care: any plugin may be that service (docs/rewind.md 1.8). */
import { untilAborted } from '../host/abort.js';
import { reasonOf, RewindError } from '../host/error.js';

/**
 * Asks a checkpoint service and reads its answer. One that fails, or answers what cannot be read, is refused: its own
 * words say nothing of a next step.
 *
 * @param ask - asks it.
 * @param signal - ends the wait.
 * @param failed - `code` of the refusal, and `next`: what that means and what to do.
 * @returns what `ask` comes to.
 * @throws the signal's reason, or the refusal.
 */
export async function askService(ask, signal, { code = 'NO_CHECKPOINT', next }) {
  try {
    return await untilAborted(ask(), signal);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new RewindError(code, `The checkpoint service could not tell the latest mark (${reasonOf(cause)}), ${next}`, { cause });
  }
}

/**
 * @param provider - the checkpoint service.
 * @param session - the session that is asked about.
 * @param signal - ends the wait.
 * @param failed - as {@link askService} takes it.
 * @returns a promise of the session's latest mark as {@link readMark} reads it.
 */
export function latestMark(provider, session, signal, failed) {
  return askService(async () => readMark(await provider.latestMark(session.id), session.id), signal, failed);
}

/**
 * Reads a mark.
 *
 * @param raw - what `ctx.checkpoint.latestMark` answered.
 * @param sessionId - the session it was asked for.
 * @returns `{ id, logLength, logLengthText, callId, objective, folded, fault }`, every field of the kind that it
 * has to be: `logLength` is NaN where it is no integer, `fault` a sentence where no fold can start from the mark;
 * undefined where there is no mark.
 */
export function readMark(raw, sessionId) {
  if (raw === undefined || raw === null) return undefined;
  const { id, logLength, callId, objective, foldedAt, sessionId: owner } = raw;
  return {
    id: isId(id) ? id : undefined,
    logLength: Number.isInteger(logLength) ? logLength : NaN,
    logLengthText: show(logLength),
    callId: typeof callId === 'string' ? callId : undefined,
    objective: typeof objective === 'string' && objective.trim() !== '' ? objective : undefined,
    folded: foldedAt !== undefined && foldedAt !== null,
    fault: faultOf(raw, id, owner, sessionId),
  };
}

function faultOf(raw, id, owner, sessionId) {
  if (typeof raw !== 'object') return `The checkpoint service answered ${show(raw)}, which is no mark.`;
  if (!isId(id)) return `The checkpoint service answered a mark whose id is ${show(id)}, and no report can carry that.`;
  if (owner !== undefined && String(owner) !== String(sessionId)) {
    return `Mark ${id} cannot be used: it belongs to session ${show(owner)}, and this is ${show(sessionId)}.`;
  }
  return undefined;
}

/** A report names its mark on one line, and a log takes integers and texts. */
function isId(id) {
  return Number.isSafeInteger(id) || (typeof id === 'string' && /^[^\s](.*[^\s])?$/.test(id));
}

/** @returns a value as text, whatever it is. */
function show(value) {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? `[${value.map(show)}]` : 'an object';
  return String(value);
}

/**
 * @param one - a mark as {@link readMark} reads it, or none.
 * @param other - another reading of it.
 * @returns whether both tell the same: another object may, and no field may differ (docs/rewind.md 3.1).
 */
export function isSameMark(one, other) {
  const told = (mark) => [mark?.id, mark?.logLength, mark?.callId, mark?.objective, mark?.fault];
  return told(one).every((field, at) => Object.is(field, told(other)[at]));
}
