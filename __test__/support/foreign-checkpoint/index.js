/**
 * A checkpoint provider that is not ours, to the contract that the fold relies on: marks in memory, without
 * the call's id, and every answer a few milliseconds late, as from a store on disk.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { defineTool } from '@deepseek-ai/dsh-tools';

const LATE_MS = 20;

export const name = 'foreign-checkpoint';

export const inject = ['sessions', 'tools'];

class ForeignCheckpoint {
  #marks = new Map();

  async mark(session, objective) {
    const marks = this.#marks.get(session.id) ?? [];
    const mark = {
      id: marks.length + 1,
      sessionId: session.id,
      logLength: session.events.length,
      objective,
      foldedAt: null,
    };
    this.#marks.set(session.id, [...marks, mark]);
    await delay(LATE_MS);
    return mark;
  }

  async latestMark(sessionId) {
    await delay(LATE_MS);
    return this.#marks.get(sessionId)?.at(-1);
  }

  async hasActive(sessionId) {
    const mark = await this.latestMark(sessionId);
    return mark !== undefined && mark.foldedAt === null;
  }

  async completeFold(sessionId, markId) {
    await delay(LATE_MS);
    const mark = this.#marks.get(sessionId)?.find(({ id }) => id === markId);
    if (mark) mark.foldedAt = Date.now();
  }
}

/** @param ctx - the plugin's context. */
export function apply(ctx) {
  const service = new ForeignCheckpoint();
  ctx.provide('checkpoint', service);
  ctx.tools.register(defineTool({
    name: 'checkpoint',
    description: 'The foreign checkpoint.',
    parameters: { objective: { type: 'string', description: 'What is to be found out.' } },
    output: {
      schema: { type: 'integer' },
      render: (_args, id) => [{ type: 'text', text: `foreign mark ${id}` }],
    },
    execute: async ({ objective }, { agent }) => (await service.mark(agent.session, objective)).id,
  }));
}
