/** The names of the two tools, which two rows of the patch configure: the one's texts name the other's tool. */

/**
 * Says where the row of the entry plugin and that of the bundled checkpoint plugin do not agree. Another
 * provider of `ctx.checkpoint` tells no names, so nothing is said of it.
 *
 * @param ctx - the entry plugin's context.
 * @param config - the entry plugin's row.
 * @returns {string | undefined} a sentence that names both rows and keys.
 */
export function namesFault(ctx, { toolName, checkpointToolName }) {
  const tools = ctx.get('checkpoint')?.tools;
  if (tools === undefined) return undefined;
  const pairs = [
    ['checkpointToolName', checkpointToolName, 'toolName', tools.checkpoint],
    ['toolName', toolName, 'rewindToolName', tools.rewind],
  ].filter(([, own, , theirs]) => own !== theirs);
  if (pairs.length === 0) return undefined;
  const faults = pairs.map(([key, own, other, theirs]) => (
    `${key} of the row tool-rewind is "${own}", and ${other} of the row tool-rewind-checkpoint is "${theirs}"`
  ));
  return `Two rows disagree on the name of a tool, so the model is told of one that is not there: ${faults.join('; ')}. `
    + "Set both to the same name in the profile's cordis.patch.yml.";
}

/**
 * Says it once a provider is there, in the log.
 *
 * @param ctx - the entry plugin's context.
 * @param config - the entry plugin's row.
 */
export function watchNames(ctx, config) {
  ctx.inject(['checkpoint'], () => {
    const fault = namesFault(ctx, config);
    // Warnings are below what the harness prints by default, and this one is about a set-up that cannot work.
    if (fault) ctx.logger?.error(fault);
  });
}
