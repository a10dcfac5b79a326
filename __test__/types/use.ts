/** Compiled, never run: the declared types against the way a plugin author uses them. */
import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '@deepseek-ai/dsh-agent';
import * as rewind from '@dpskh/tool-rewind';
import { isRewindReportSource, RewindError, REWIND_REPORT_SOURCE } from '@dpskh/tool-rewind';
import type { RewindResult } from '@dpskh/tool-rewind';
import * as checkpoint from '@dpskh/tool-rewind/checkpoint';

export const inject = ['rewind', 'checkpoint'];

export function apply(ctx: Context, agent: Agent): void {
  ctx.plugin(rewind, { toolName: 'fold', reportLanguage: 'zh' });
  ctx.plugin(checkpoint, { toolName: 'checkpoint', rewindToolName: 'fold' });
  ctx.on('session/event', (_session, event) => {
    if (event.type !== 'user/message') return;
    const { source } = event.data;
    if (isRewindReportSource(source)) {
      const quotes: readonly string[] = source.quotes ?? [];
      ctx.logger.info(`report of mark ${source.markId}: ${source.foldedNodes} steps, ${quotes.length} quotes`);
    }
  });
  void fold(ctx, agent);
}

async function fold(ctx: Context, agent: Agent): Promise<number> {
  const mark = await ctx.checkpoint.mark(agent.session, 'find the port');
  try {
    const result: RewindResult = await ctx.rewind.rewind(agent, new AbortController().signal);
    return result.foldedChars - result.reportChars + (result.usage?.outputTokens ?? 0);
  } catch (error) {
    if (error instanceof RewindError && error.code === 'EMPTY_REGION') return mark.logLength;
    throw error;
  }
}

const plugin: 'rewind' = REWIND_REPORT_SOURCE.plugin;
void plugin;
// @ts-expect-error a typo in a setting is an error at compile time too
const wrong: rewind.RewindConfig = { toolname: 'fold' };
void wrong;
