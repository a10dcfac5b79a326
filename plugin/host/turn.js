/** Where a session stands in its turns. */
import { isReplacement } from './events.js';

/**
 * @param events - a log snapshot.
 * @returns the number of the open turn, undefined between turns.
 */
export function openTurn(events) {
  for (let at = events.length - 1; at >= 0; at -= 1) {
    const { type, data } = events[at];
    if (type === 'turn/start') return data.turn;
    if (type === 'turn/end') return undefined;
  }
  return undefined;
}

/**
 * @param events - a log snapshot.
 * @param before - a log length.
 * @returns the seq at which the last turn below that length began, 0 where none did.
 */
export function turnStart(events, before) {
  for (let at = before - 1; at >= 0; at -= 1) if (events[at].type === 'turn/start') return at;
  return 0;
}

/**
 * @param events - a log snapshot.
 * @param before - a log length, as a mark gives it: it may lie outside the log.
 * @param wanted - what must hold of the message, anything where absent.
 * @returns the last assistant message that was appended below that length, undefined where none was.
 */
export function assistantBefore(events, before, wanted = () => true) {
  for (let at = Math.min(before, events.length) - 1; at >= 0; at -= 1) {
    const event = events[at];
    if (event.type === 'assistant/message' && !isReplacement(event) && wanted(event)) return event;
  }
  return undefined;
}
