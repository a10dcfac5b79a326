/** The verdicts that a plan goes by. */
import { RULES } from './choose.js';
import { stateOf } from './state.js';

/**
 * Verdicts for the results of a surface, as columns for the core. The rules' are made anew each time, since they
 * cost nothing and the surface has moved on; any other judge's are those it gave for the present goal.
 *
 * @param config - the row.
 * @param session - the session.
 * @param read - what `readView` answered.
 * @returns `{ seqs, need, effect }`, NaN where nobody judged.
 */
export function verdictsFor(config, session, { view, events, seqs }) {
  const state = stateOf(session);
  if (config.judgeOn !== 'off' && state.judge === RULES.id) return view.rules().verdicts;
  const goal = config.judgeOn === 'off' || state.judge === undefined ? undefined : state.goal.version;
  return state.verdicts.columns(events, seqs, goal);
}
