/**
 * `@dpskh/tool-rewind/recall`: one tool that gives back what folds, receipts, checkpoints and in-place
 * rewrites took out of the conversation. It reads the log and never changes the surface.
 */
import Schema from '@deepseek-ai/schemastery';
import { harness } from '../host/compat.js';
import { strict } from '../host/config.js';
import { recallTool } from './tool.js';

/** The plugin's name in logs. */
export const name = 'tool-rewind-recall';

/** Services that must exist before the plugin starts. */
export const inject = ['tools'];

/** The row's configuration: the bound on one result, in UTF-16 code units. */
export const Config = strict(
  Schema.object({
    maxRecallChars: Schema.natural().min(1_000).max(200_000).default(8_000)
      .description('The most one recall gives back, in characters.'),
  }),
  'recall config',
);

/**
 * Registers the tool.
 *
 * @param {import('@deepseek-ai/cordis').Context} ctx - the plugin's context.
 * @param {{ maxRecallChars: number }} config - the validated row.
 * @throws when the mounted harness is of an unknown form.
 */
export function apply(ctx, config) {
  harness.assertSupported();
  ctx.tools.register(recallTool(config));
}
