/** The verdicts that a plan goes by. */
import { harness } from '../host/compat.js';
import { RULES } from './choose.js';
import { stateOf } from './state.js';

/**
 * Whether the rules judge, whose verdicts are made anew each time: they cost nothing, and the surface moves
 * on.
 */
function byRules(config, session) {
  return config.judgeOn !== 'off' && stateOf(session).judge === RULES.id;
}

/** The goal that stored verdicts must have been given for; undefined where none counts. */
function goalFor(config, session) {
  const { judge, goal } = stateOf(session);
  return config.judgeOn === 'off' || judge === undefined ? undefined : goal.version;
}

/**
 * Verdicts for the results of a surface, as columns for the core.
 *
 * @param config - the row.
 * @param session - the session.
 * @param read - what `readView` answered.
 * @returns `{ seqs, need, effect }`, NaN where nobody judged.
 */
export function verdictsFor(config, session, { view, events, seqs }) {
  if (byRules(config, session)) return view.rules().verdicts;
  return stateOf(session).verdicts.columns(events, seqs, goalFor(config, session));
}

/**
 * @param config - the row.
 * @param session - the session.
 * @returns whether the need of any result on the surface is known.
 */
export function isJudged(config, session) {
  if (byRules(config, session)) return true;
  const events = harness.events(session);
  const goal = goalFor(config, session);
  const { verdicts } = stateOf(session);
  return session.surface.nodes.some(
    (seq) => events[seq]?.type === 'tool/result' && verdicts.of(events, seq, goal).need !== undefined,
  );
}

/**
 * @param axis - one axis of verdicts, NaN where there is none.
 * @returns how many verdicts there are, and how they lie: lowest, middle, highest.
 */
export function spread(axis) {
  const known = Float64Array.from(axis).filter(Number.isFinite).toSorted();
  if (known.length === 0) return { count: 0 };
  return { count: known.length, min: known[0], median: known[known.length >> 1], max: known.at(-1) };
}
