/** Where a session stands in its turns. */

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
