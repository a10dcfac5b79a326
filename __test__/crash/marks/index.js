/**
 * A checkpoint provider of somebody else that keeps its marks in a file of its own, apart from the session
 * log. The two are written one after the other, so a process that dies in between leaves them at odds.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Service } from '@deepseek-ai/cordis';
import { defineTool } from '@deepseek-ai/dsh-tools';

const FILE = join(process.env.DSH_HOME, 'marks.json');

/** `ctx.checkpoint` over a file. */
class StoredMarks extends Service {
  read() {
    return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : [];
  }

  write(marks) {
    writeFileSync(FILE, JSON.stringify(marks));
  }

  take({ id: sessionId, seq: logLength }) {
    const marks = this.read();
    const mark = { sessionId, id: marks.length + 1, logLength, foldedAt: null };
    this.write([...marks, mark]);
    return mark;
  }

  async latestMark(sessionId) {
    return this.read().findLast((mark) => mark.sessionId === sessionId);
  }

  async hasActive(sessionId) {
    return (await this.latestMark(sessionId))?.foldedAt === null;
  }

  async completeFold(sessionId, id) {
    const marks = this.read();
    for (const mark of marks) if (mark.sessionId === sessionId && mark.id === id) mark.foldedAt = 1;
    this.write(marks);
  }
}

export const name = 'test-marks';

export const inject = ['tools'];

/** @param ctx - the plugin's context. */
export function apply(ctx) {
  const service = new StoredMarks(ctx, 'checkpoint');
  ctx.tools.register(defineTool({
    name: 'checkpoint',
    description: 'Takes a mark.',
    parameters: { objective: { type: 'string' } },
    output: {
      schema: { type: 'integer' },
      render: (_args, id) => [{ type: 'text', text: `mark ${id} is taken` }],
    },
    execute: (_args, { agent }) => service.take(agent.session).id,
  }));
}
