/** Compiled, never run: the declared types against the way a plugin author uses them. */
import { Context } from '@deepseek-ai/cordis';
import type { Agent } from '@deepseek-ai/dsh-agent';
import { HarnessError } from '@deepseek-ai/dsh-llm';
import type { MessageSource } from '@deepseek-ai/dsh-llm';
import * as rewind from '@dpskh/tool-rewind';
import { isRewindReportSource, REWIND_REPORT_SOURCE, RewindError, RewindService } from '@dpskh/tool-rewind';
import type {
  MarkId, RewindConfig, RewindErrorCode, RewindReportSource, RewindResult,
} from '@dpskh/tool-rewind';
import * as checkpoint from '@dpskh/tool-rewind/checkpoint';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function same<A, B>(_: Equal<A, B>): void {}

/** A composition mounts both plugins, with or without configuration. */
export async function mount(ctx: Context): Promise<void> {
  const config: RewindConfig = { toolName: 'fold', reportLanguage: 'zh', maxTokens: 2048 };
  await ctx.plugin(rewind, config);
  await ctx.plugin(rewind, {});
  await ctx.plugin(checkpoint, {});
}

/** Code folds through the service and reads every number of the result. */
export async function fold(ctx: Context, agent: Agent, signal: AbortSignal): Promise<string> {
  same<typeof ctx.rewind, RewindService>(true);
  try {
    const result: RewindResult = await ctx.rewind.rewind(agent, signal);
    const id: MarkId = result.markId;
    const counts: number[] = [
      result.foldedNodes, result.start, result.end, result.foldedChars, result.reportChars,
      result.foldedTokens ?? 0, result.reportTokens ?? 0, result.usage?.outputTokens ?? 0,
    ];
    return `${id}: ${counts.join(' ')} ${result.warning ?? ''}`;
  } catch (error) {
    if (error instanceof RewindError) {
      const harness: HarnessError = error;
      const code: string = harness.code;
      const known: RewindErrorCode = 'EMPTY_REGION';
      return code === known ? error.message : String(error.detail['foldedChars']);
    }
    throw error;
  }
}

/** A reader of logs tells reports from other messages, and their facts come with the type. */
export function markOf(source: MessageSource): MarkId | undefined {
  if (!isRewindReportSource(source)) return undefined;
  const report: RewindReportSource = source;
  const quotes: readonly string[] = report.quotes ?? [];
  return quotes.length > 0 ? undefined : report.markId;
}

same<typeof rewind.name, 'tool-rewind'>(true);
same<typeof REWIND_REPORT_SOURCE, Readonly<{ kind: 'plugin'; plugin: 'rewind' }>>(true);

// @ts-expect-error a key that does not exist
const unknownKey: RewindConfig = { toolname: 'fold' };
// @ts-expect-error a language that does not exist
const unknownLanguage: RewindConfig = { reportLanguage: 'fr' };
// @ts-expect-error the package has no default export
rewind.default;
void [unknownKey, unknownLanguage];
