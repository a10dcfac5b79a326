/**
 * `@dpskh/tool-rewind/prune`: judged pruning and deterministic receipts. It decides what stays on the surface
 * and never rewrites what it keeps; everything it moves out is in the log and comes back through `recall`.
 */
import { CONTEXT_WINDOW_EXCEEDED_CODE } from '@deepseek-ai/dsh-llm';
import { harness } from '../host/compat.js';
import { native } from '../native.js';
import { pruneCommand } from './command.js';
import { heartbeat } from './heartbeat.js';
import { Hooks } from './hooks.js';
import { KEY_NAME, resolveKey } from './judges/jev.js';
import { ContextJudge } from './judges/service.js';
import { levelled } from './log.js';
import { Pruning } from './pruning.js';
import { stateOf } from './state.js';

export { Config } from './config.js';
export { JudgeError } from './judges/error.js';
export { ContextJudge } from './judges/service.js';

/** The plugin's name in logs. */
export const name = 'tool-rewind-prune';

/** Services that must exist before the plugin starts. Everything else is asked for when it is needed. */
export const inject = ['agents', 'sessions'];

/**
 * Serves `ctx.contextJudge`, stands in front of the pruners that agents use, and listens at the steps.
 *
 * @param {import('@deepseek-ai/cordis').Context} ctx - the plugin's context.
 * @param config - the validated row.
 * @returns a promise of the start. Only an async function's is waited for: cordis calls any other with `new`.
 * @throws when the mounted harness is of an unknown form, or `judge` is `jev` and there is no key anywhere.
 */
export async function apply(ctx, config) {
  harness.assertSupported();
  if (!config.enabled) return;
  if (config.judge === 'jev' && (await resolveKey(ctx, config)) === undefined) {
    throw new Error(
      `prune config: judge is jev, but there is no key: set apiKey, store the credential ${KEY_NAME}, or ` +
        `export ${KEY_NAME}; or use the judge auto, which needs none.`,
    );
  }
  start(ctx, config);
}

function start(ctx, config) {
  const log = levelled(ctx.logger, config.logLevel);
  const registry = new ContextJudge(ctx);
  const pruning = new Pruning(ctx, {
    config,
    settings: new native.PruneSettings(JSON.stringify(config)),
    hooks: new Hooks(),
    registry,
    log,
    beat: heartbeat(config.heartbeatFile, log),
  });
  ctx.effect(() => () => pruning.dispose(), 'prune: hooks');

  for (const agent of ctx.agents.list()) pruning.attach(agent);
  ctx.on('agent/created', ({ agent }) => pruning.attach(agent));
  // In front of compaction's own listener, so that it finds fresh verdicts, and less to do.
  ctx.on(
    'agent/pre-step',
    async (payload, next) => {
      await pruning.preStep(payload).catch((error) => {
        if (!payload.signal.aborted) log.error(`the step goes on unpruned: ${error.message}`);
      });
      return next();
    },
    { prepend: true },
  );
  ctx.on(
    'agent/request-error',
    async ({ agent, failure }, next) => {
      if (failure.code !== CONTEXT_WINDOW_EXCEEDED_CODE) return next();
      const state = stateOf(agent.session);
      state.overflow = true;
      try {
        return await next();
      } finally {
        state.overflow = false;
      }
    },
    { prepend: true },
  );
  ctx.inject(['commands'], (child) => {
    child.commands.register(pruneCommand(pruning));
  });
}
