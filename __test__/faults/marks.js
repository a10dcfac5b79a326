/**
 * A checkpoint provider as another package would bring it: marks of its own in memory, a tool, promises. It
 * shares nothing with the bundled one, so a fold's completion is known to it only when it is told.
 */
import { Service } from '@deepseek-ai/cordis';
import { defineTool } from '@deepseek-ai/dsh-tools';

/** `ctx.checkpoint` with a seam in every method that the fold and the guard await. */
export class Marks extends Service {
  static inject = ['tools'];

  marks = new Map();

  /**
   * @param ctx - the plugin's context.
   * @param config - `seam(point, proceed)`: called in the place of each awaited method's own work.
   */
  constructor(ctx, { seam }) {
    super(ctx, 'checkpoint');
    this.seam = seam;
    ctx.tools.register(defineTool({
      name: 'checkpoint',
      description: 'Takes a mark.',
      parameters: {},
      output: {
        schema: { type: 'integer' },
        render: (_args, id) => [{ type: 'text', text: `mark ${id} is taken` }],
      },
      execute: (_args, { agent }) => this.take(agent.session).id,
    }));
  }

  /**
   * @param session - the session to mark.
   * @returns the mark.
   */
  take(session) {
    const marks = this.marks.get(session.id) ?? [];
    const mark = { id: marks.length + 1, logLength: session.seq, foldedAt: null };
    this.marks.set(session.id, [...marks, mark]);
    return mark;
  }

  /** @returns the session's latest mark as it is now, or undefined. */
  peek(sessionId) {
    const mark = this.marks.get(sessionId)?.at(-1);
    return mark && { ...mark };
  }

  /** Drops every mark of a session, as a store that lost them. */
  forget(sessionId) {
    this.marks.delete(sessionId);
  }

  latestMark(sessionId) {
    return this.seam('latestMark', async () => this.peek(sessionId));
  }

  hasActive(sessionId) {
    return this.seam('hasActive', async () => this.peek(sessionId)?.foldedAt === null);
  }

  completeFold(sessionId, markId) {
    return this.seam('completeFold', async () => {
      const mark = this.marks.get(sessionId)?.find(({ id }) => id === markId);
      if (mark) mark.foldedAt = 1;
    });
  }
}
