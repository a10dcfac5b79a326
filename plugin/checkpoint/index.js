/**
 * `@dpskh/tool-rewind/checkpoint`: marks without the sibling package. Provides `ctx.checkpoint` and the
 * `checkpoint` tool over it, unless the composition has another provider (docs/rewind.md 5).
 */
import { Context } from '@deepseek-ai/cordis';
import Schema from '@deepseek-ai/schemastery';
import { harness } from '../host/compat.js';
import { strict } from '../host/config.js';
import { Marks } from './marks.js';
import { CheckpointService } from './service.js';
import { checkpointTool } from './tool.js';

export { CheckpointService } from './service.js';

/** The plugin's name in logs. */
export const name = 'tool-rewind-checkpoint';

/** Services that must exist before the plugin starts. */
export const inject = ['tools', 'sessions'];

/** A name that every provider takes for a tool. */
const toolNameOf = (fallback) => Schema.string().pattern(/^[a-zA-Z0-9_-]{1,64}$/).default(fallback);

/** The row's configuration: the tool's name, and the name of the tool that folds. */
export const Config = strict(
  Schema.object({
    toolName: toolNameOf('checkpoint')
      .description('Name of the tool that sets marks; the entry plugin\'s checkpointToolName must agree.'),
    rewindToolName: toolNameOf('rewind')
      .description('Name of the fold tool, for texts; the entry plugin\'s toolName must agree.'),
  }),
  'checkpoint config',
  ({ toolName, rewindToolName }) => (toolName === rewindToolName
    ? `toolName and rewindToolName are both ${toolName}: one tool sets marks and the other folds, so name them apart.`
    : undefined),
);

/**
 * Registers the service and the tool once the composition is loaded, and only if nobody else provides
 * `ctx.checkpoint` by then, so that the order of the rows does not matter. Without a loader, or in a
 * composition that is loaded already, that moment is now.
 *
 * @param {Context} ctx - the plugin's context.
 * @param {{ toolName: string, rewindToolName: string }} config - the validated row.
 * @throws when the mounted harness is of an unknown form, or another plugin has a tool of that name; in a
 *   composition that is still loading the latter is logged, since the boot is past its check by then.
 */
export function apply(ctx, config) {
  harness.assertSupported();
  const loader = ctx.get('loader');
  if (loader === undefined || loader.getTasks().length === 0) {
    start(ctx, config);
    return;
  }
  let applied = true;
  ctx.effect(() => () => {
    applied = false;
  }, 'checkpoint: waits for the composition');
  const loaded = () => {
    if (!applied) return;
    try {
      start(ctx, config);
    } catch (error) {
      ctx.logger.error(error);
    }
  };
  // A failed entry elsewhere rejects the wait; it is reported by the loader and loads nothing further.
  loader.await().then(loaded, loaded);
}

function start(ctx, config) {
  const other = ctx.reflect.store[ctx[Context.isolate].checkpoint];
  if (other !== undefined) {
    ctx.logger.info(
      `ctx.checkpoint is provided by "${other.fiber.name}": `
        + `the bundled service and its tool "${config.toolName}" stand aside`,
    );
    return;
  }
  if (ctx.tools.get(config.toolName) !== undefined) {
    throw new Error(
      `another plugin has a tool "${config.toolName}", so no checkpoint can be taken: set "toolName" in the `
        + 'row of @dpskh/tool-rewind/checkpoint and "checkpointToolName" in that of @dpskh/tool-rewind',
    );
  }
  const marks = new Marks(config.toolName);
  ctx.tools.register(checkpointTool(marks, config));
  ctx.provide('checkpoint', new CheckpointService(ctx.sessions, marks, config));
  ctx.on('session/event', (session, event) => marks.observe(session, event));
  ctx.logger.info(`provides ctx.checkpoint and the tool "${config.toolName}"`);
}
