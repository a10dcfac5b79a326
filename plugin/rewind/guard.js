/** The turn guard: a turn does not end silently over an active mark (docs/rewind.md 4.3, 4.4). */
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { follow, untilAborted } from '../host/abort.js';
import { findReport } from '../host/reports.js';
import { head, oneLine } from '../host/words.js';
import { readMark } from './mark.js';

/** Source plugin name of the guard's warnings, which is not a report's. */
export const GUARD_PLUGIN = 'rewind-guard';

/**
 * Makes the listener of `agent/turn-stopping`. It is awaited by the harness, so it returns the promise of its
 * check; it resolves to undefined and never throws, for a value would silence later listeners and a throw
 * would fail the turn.
 *
 * @param ctx - the entry plugin's context.
 * @param config - the resolved row.
 * @param engine - the service's engine, asked what became of earlier attempts.
 * @returns the listener.
 */
export function makeGuard(ctx, config, engine) {
  const warned = new WeakMap();
  const gone = new AbortController();
  ctx.effect(() => () => gone.abort(new Error('the plugin was disposed')));
  ctx.on('session/event', (session, { type }) => {
    if (type === 'turn/end') warned.delete(session);
  });

  async function check({ agent, turn }, signal) {
    const { session } = agent;
    const checkpoint = ctx.get('checkpoint');
    if (!checkpoint || warned.get(session) === turn) return;
    if (!await untilAborted(checkpoint.hasActive(session.id), signal)) return;
    const mark = readMark(await untilAborted(checkpoint.latestMark(session.id), signal), session.id);
    if (!mark || mark.fault || findReport(session, mark)) return;
    if (engine.attempts.failedFor(session, mark.id, turn) || await engine.isStillTooSmall(agent, mark)) return;
    if (signal.aborted || warned.get(session) === turn) return;
    warned.set(session, turn);
    agent.inject(createUserMessage({
      content: [{ type: 'text', text: warning(mark, config.toolName) }],
      source: { kind: 'plugin', plugin: GUARD_PLUGIN, form: 'notice', summary: `Mark ${mark.id} is not folded yet` },
    }));
  }

  return async (payload) => {
    // Nothing is written for a plugin that went while its listener waited, and no turn is held for it.
    const { signal, release } = follow(payload.signal, gone.signal);
    try {
      await check(payload, signal);
    } catch (error) {
      if (!signal.aborted) ctx.logger?.warn(error);
    } finally {
      release();
    }
  };
}

function warning({ id, objective }, toolName) {
  const goal = objective ? ` (objective: ${head(oneLine(objective), 200)})` : '';
  return `The exploration of mark ${id}${goal} is still in the context. If it is finished, call \`${toolName}\` now, `
    + 'before you answer; if folding is refused or not wanted, just finish your answer.';
}
