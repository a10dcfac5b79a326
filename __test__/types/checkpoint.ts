/** Compiled, never run: the checkpoint subpath as a plugin author uses it. */
import type { Context } from '@deepseek-ai/cordis';
import type { Session } from '@deepseek-ai/dsh-session';
import * as checkpoint from '@dpskh/tool-rewind/checkpoint';
import type { CheckpointMark, CheckpointService } from '@dpskh/tool-rewind/checkpoint';

export async function use(ctx: Context, session: Session): Promise<number> {
  ctx.plugin(checkpoint, { toolName: 'mark', rewindToolName: 'fold' });
  const service: CheckpointService = ctx.checkpoint;
  const taken: CheckpointMark = await service.mark(session, 'look around');
  const latest = await service.latestMark(session.id);
  if (latest !== undefined && latest.foldedAt === null) await service.completeFold(session.id, latest.id);
  const seq: number | undefined = await service.discard(session.id, taken.id);
  // @ts-expect-error a mark is read-only
  taken.id = 2;
  return (await service.hasActive(session.id)) ? taken.logLength : seq ?? 0;
}
