/**
 * `@dpskh/tool-rewind`: folds explorations. Mounting it provides `ctx.rewind` and the model-facing `rewind`
 * tool; marks come from `ctx.checkpoint`, which `@dpskh/tool-rewind/checkpoint` serves.
 */
import { harness } from './plugin/host/compat.js';
import { isReportSource, REPORT_PLUGIN } from './plugin/host/reports.js';
import { registerCommand } from './plugin/rewind/command.js';
import { makeGuard } from './plugin/rewind/guard.js';
import { watchNames } from './plugin/rewind/names.js';
import { foldSection } from './plugin/rewind/prompt.js';
import { RewindService } from './plugin/rewind/service.js';
import { rewindTool } from './plugin/rewind/tool.js';

export { Config } from './plugin/rewind/config.js';
export { RewindError } from './plugin/host/error.js';
export { RewindService };

/** The plugin's name. */
export const name = 'tool-rewind';

/** Services the plugin cannot work without; `checkpoint` and `tokenMeter` are used where they are. */
export const inject = ['llm', 'systemPrompt', 'tools'];

/** The source that marks a report of this package on the surface. */
export const REWIND_REPORT_SOURCE = Object.freeze({ kind: 'plugin', plugin: REPORT_PLUGIN });

/**
 * Tells reports from everything else this package writes.
 *
 * @param source - a message's source.
 * @returns whether it is a report's, and not the guard's, a pointer's or an instruction's.
 */
export function isRewindReportSource(source) {
  return isReportSource(source);
}

/**
 * Mounts the service, the tool, the guard and the prompt section; all go when the plugin goes.
 *
 * @param ctx - the plugin's context.
 * @param config - the resolved row.
 * @throws when the mounted harness takes no form this package knows.
 */
export function apply(ctx, config) {
  harness.assertSupported();
  const service = new RewindService(ctx, config);
  ctx.tools.register(rewindTool(ctx, config));
  ctx.systemPrompt.section({ name: 'tool:rewind', order: 130, text: foldSection(config) });
  registerCommand(ctx, config, service.engine);
  watchNames(ctx, config);
  ctx.on('agent/turn-stopping', makeGuard(ctx, config, service.engine));
}
