import type { Context } from '@deepseek-ai/cordis';
import type Schema from '@deepseek-ai/schemastery';

/** The row's configuration. Every setting is optional; an unknown one or one out of range fails the boot. */
export interface TurnMemoryConfig {
  /** How a turn is summarized: one call over the true prefix, or rounds of a forked child. Default `replay`. */
  summaryEngine?: 'replay' | 'fork';
  /** Bounds each round of a summary, in milliseconds, at least 1000. Default 180000. */
  roundTimeoutMs?: number;
  /** Rounds of one fork attempt, 1 to 10. Default 3. */
  maxRounds?: number;
  /** Attempts per turn in one process, 1 to 10. Default 3. */
  maxAttemptsPerTurn?: number;
  /** Longest rewritten segment in code points, 100 to 20000. Default 2000. */
  maxWorkingChars?: number;
  /** Largest share of a turn's tokens that its checkpoint may have, above 0 and at most 1. Default 0.9. */
  minShrinkRatio?: number;
  /** Code points of one tool result in drafts and transcripts; head and tail are kept. Default 20000. */
  toolResultCapChars?: number;
  /** Code points of a whole transcript, at least 1000; head and tail are kept. Default 500000. */
  maxRawChars?: number;
  /** Bounds one agentic recall, in milliseconds, at least 1000. Default 180000. */
  recallTimeoutMs?: number;
  /** Turns that ended within it are recalled by a fork, in milliseconds; 0 for none. Default 7200000. */
  recallRecentWindowMs?: number;
  /** Deepest delegation of a recall fork. Default 4. */
  maxRecallDepth?: number;
  /** Provider that answers about older turns; empty together with `cheapModel`. Default `deepseek-official`. */
  cheapProvider?: string;
  /** Model that answers about older turns; empty together with `cheapProvider`. Default `deepseek-chat`. */
  cheapModel?: string;
  /** Output budget of such an answer in tokens. Default 8192. */
  cheapMaxTokens?: number;
  /** Writes each replaced turn to `$DSH_HOME/turn-memory/raw`. Default false. */
  keepRawCopy?: boolean;
  /** Writes a trace to `$DSH_HOME/turn-memory-debug.log`. Default false. */
  debug?: boolean;
  /** Folder in which each landed checkpoint is written with its neighbours; empty for none. */
  prefixDumpDir?: string;
}

/** The source of a checkpoint on the surface. */
export interface TurnCheckpointSource {
  readonly kind: 'plugin';
  readonly plugin: 'turn-memory';
  /** The turn it stands for. */
  readonly turn: number;
  /** Its own id. */
  readonly turnSummaryId: string;
  /** The format of its text. */
  readonly version: 5;
  readonly scope: 'whole-turn';
}

export declare const name: 'tool-rewind-turn-memory';
export declare const inject: string[];
export declare const Config: Schema<TurnMemoryConfig, Required<TurnMemoryConfig>>;
export declare function apply(ctx: Context, config: Required<TurnMemoryConfig>): void;
