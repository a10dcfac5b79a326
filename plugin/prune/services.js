/** Services that an agent may have of its own. */

/**
 * Resolves a service as an agent's own plugins would: in the web profile each agent preset has a compaction
 * realm of its own, and the host's rows are off.
 *
 * @param ctx - the plugin's context.
 * @param agent - the agent.
 * @param {'toolResultPruner' | 'compaction'} name - the service.
 * @returns the service, or undefined.
 */
export function serviceOf(ctx, agent, name) {
  return ctx.get('agentPresets')?.serviceFor(agent, name) ?? ctx.get(name);
}
