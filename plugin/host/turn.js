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

/**
 * @param events - a log snapshot.
 * @param before - a log length.
 * @returns the seq at which the last turn below that length began, 0 where none did.
 */
export function turnStart(events, before) {
  for (let at = before - 1; at >= 0; at -= 1) if (events[at].type === 'turn/start') return at;
  return 0;
}
