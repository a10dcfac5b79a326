/** The turn-memory entry's types against real use: a composition, a row, and a reader of checkpoints. */
import type { Context } from '@deepseek-ai/cordis';
import type { MessageSource } from '@deepseek-ai/dsh-llm';
import * as turnMemory from '@dpskh/tool-rewind/turn-memory';
import { Config, apply, inject, name } from '@dpskh/tool-rewind/turn-memory';
import type { TurnCheckpointSource, TurnMemoryConfig } from '@dpskh/tool-rewind/turn-memory';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function same<A, B>(_: Equal<A, B>): void {}

const rows: TurnMemoryConfig[] = [
  {},
  { summaryEngine: 'fork', maxRounds: 2, roundTimeoutMs: 5000, maxAttemptsPerTurn: 1, minShrinkRatio: 0.5 },
  { cheapProvider: '', cheapModel: '', cheapMaxTokens: 100, recallRecentWindowMs: 0, maxRecallDepth: 1 },
  { debug: true, keepRawCopy: true, prefixDumpDir: '/tmp/x', maxRawChars: 1000, toolResultCapChars: 1 },
];

/** Mounts the plugin, with and without configuration. */
export async function mount(ctx: Context): Promise<boolean> {
  for (const row of rows) await ctx.plugin(turnMemory, row);
  const resolved: Required<TurnMemoryConfig> = Config({ maxWorkingChars: 500 });
  same<typeof resolved.summaryEngine, 'replay' | 'fork'>(true);
  same<typeof resolved.recallTimeoutMs, number>(true);
  same<typeof resolved.debug, boolean>(true);
  same<typeof resolved.prefixDumpDir, string>(true);
  same<ReturnType<typeof apply>, void>(true);
  apply(ctx, resolved);
  return inject.every((service: string) => service !== '');
}

/** A reader of logs tells checkpoints from other messages by the numbers in their source. */
export function turnOf(source: MessageSource): number | undefined {
  const marks = source as MessageSource & Partial<TurnCheckpointSource>;
  if (marks.plugin !== 'turn-memory' || marks.scope !== 'whole-turn') return undefined;
  const known: TurnCheckpointSource = {
    kind: 'plugin', plugin: 'turn-memory', turn: 3, turnSummaryId: 'id', version: 5, scope: 'whole-turn',
  };
  return marks.version === known.version ? marks.turn : undefined;
}

same<typeof name, 'tool-rewind-turn-memory'>(true);
same<keyof TurnCheckpointSource, 'kind' | 'plugin' | 'turn' | 'turnSummaryId' | 'version' | 'scope'>(true);

// @ts-expect-error a key that does not exist
const unknownKey: TurnMemoryConfig = { roundTimeout: 5000 };
// @ts-expect-error an engine that does not exist
const wrongEngine: TurnMemoryConfig = { summaryEngine: 'model' };
// @ts-expect-error milliseconds are a number
const wrongTime: TurnMemoryConfig = { recallTimeoutMs: '5s' };
// @ts-expect-error a format that this package does not write
const wrongVersion: TurnCheckpointSource['version'] = 6;
// @ts-expect-error the resolved row is complete
const short: Parameters<typeof apply>[1] = { debug: true };
void [unknownKey, wrongEngine, wrongTime, wrongVersion, short];
