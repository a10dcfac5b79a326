/** How full the context of a session is. */
import { probeRoute, resolveRoute } from '../host/model.js';
import { native } from '../native.js';
import { stateOf } from './state.js';

/**
 * Learns the window of the route that the session's next request takes; remembered for the synchronous hook.
 *
 * @param ctx - the plugin's context.
 * @param agent - the agent.
 * @param signal - ends the wait.
 */
export async function learnWindow(ctx, agent, signal) {
  const { session } = agent;
  const known = session.requestContext?.()?.contextWindow;
  if (known !== undefined) {
    stateOf(session).window = known;
    return;
  }
  const route = resolveRoute(undefined, session, agent);
  const llm = ctx.get('llm');
  if (route && llm) stateOf(session).window = (await probeRoute(llm, route, signal)).contextWindow;
}

/**
 * @param ctx - the plugin's context.
 * @param session - the session.
 * @returns `{ used, window }` in tokens, each undefined where nobody knows it.
 */
export function gauge(ctx, session) {
  const used = ctx.get('tokenMeter')?.measure(session).totalTokens;
  return { used, window: session.requestContext?.()?.contextWindow ?? stateOf(session).window };
}

/**
 * Holds a layer's gate against the moment.
 *
 * @param on - `pressure`, `always` or `off`.
 * @param limit - the layer's soft limit.
 * @param reading - what {@link gauge} found.
 * @returns `{ open, reason, threshold, ratio }`; with `always` the gate is open whatever the pressure.
 */
export function gateOf(on, limit, { used, window }) {
  if (on === 'off') return { open: false, reason: 'off', threshold: undefined, ratio: 0 };
  const pressure = native.prunePressure(String(limit), used, window);
  return on === 'always' ? { ...pressure, open: true, reason: 'always' } : pressure;
}
