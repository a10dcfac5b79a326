import type { Context } from '@deepseek-ai/cordis';
import { Service } from '@deepseek-ai/cordis';
import type { Agent } from '@deepseek-ai/dsh-agent';
import { HarnessError } from '@deepseek-ai/dsh-llm';
import type { MessageSource, TokenUsage } from '@deepseek-ai/dsh-llm';
import type Schema from '@deepseek-ai/schemastery';

/** Why a fold was refused or failed; nothing was written then (spec/rewind.md 4.2). */
export type RewindErrorCode =
  | 'NO_CHECKPOINT'
  | 'EMPTY_REGION'
  | 'UNBALANCED'
  | 'FOLD_IN_PROGRESS'
  | 'CHANGED'
  | 'SHRINK'
  | 'NO_ROUTE'
  | 'SUMMARY_FAILED';

/** A mark's id: a number of the bundled provider, whatever a foreign one uses. */
export type MarkId = number | string;

/** What a fold did. Seqs are positions in the log, chars UTF-16 code units, tokens the meter's estimate. */
export interface RewindResult {
  readonly markId: MarkId;
  /** Folded nodes, results rewritten in place included. */
  readonly foldedNodes: number;
  /** First folded seq in surface order. */
  readonly start: number;
  /** Last folded seq in surface order. */
  readonly end: number;
  /** Model-visible text of the folded nodes. */
  readonly foldedChars: number;
  /** All text that landed: report, pointers, results rewritten in place. */
  readonly reportChars: number;
  /** Absent without a token meter. */
  readonly foldedTokens?: number;
  /** Absent without a token meter. */
  readonly reportTokens?: number;
  /** What the report call cost, all attempts together, as the provider reported it. */
  readonly usage?: TokenUsage;
  /** The fold stands, and this is what a person should know of it. */
  readonly warning?: string;
}

/** The source of a landed report. Fold facts live here, for extra fields survive a round trip. */
export interface RewindReportSource extends Omit<RewindResult, 'warning'> {
  readonly kind: 'plugin';
  readonly plugin: 'rewind';
  /** Persons' words that folded with an open pair; carried word for word into a later fold's report. */
  readonly quotes?: readonly string[];
}

/** A classified refusal or failure. */
export declare class RewindError extends HarnessError {
  constructor(code: string, message: string, detail?: { cause?: unknown; [fact: string]: unknown });
  /** The facts behind the message: the fields of {@link RewindResult} that were known. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** `ctx.rewind`. */
export declare class RewindService extends Service {
  constructor(ctx: Context, config: Required<Omit<RewindConfig, 'summarizationProvider' | 'summarizationModel'>> & RewindConfig);
  /**
   * Folds everything since the session's latest mark into one generated report.
   *
   * @throws {RewindError} a classified refusal; the signal's exact reason when aborted before the commit.
   */
  rewind(agent: Agent, signal: AbortSignal): Promise<RewindResult>;
}

/** The row's configuration. */
export interface RewindConfig {
  /** Name of the model-facing fold tool. Default `rewind`. */
  toolName?: string;
  /** Name of the tool that sets marks. Default `checkpoint`. */
  checkpointToolName?: string;
  /** Output budget of the report call in tokens. Default 1024. */
  maxTokens?: number;
  /** Further attempts after an answer that is no report. Default 2. */
  maxSummarizationRetries?: number;
  /** Provider of the report call, together with the model; the session's own route where absent. */
  summarizationProvider?: string;
  /** Model of the report call, together with the provider. */
  summarizationModel?: string;
  /** Language of the report and of the texts around it. Default `en`. */
  reportLanguage?: 'en' | 'zh';
}

export declare const name: 'tool-rewind';
export declare const inject: string[];
export declare const Config: Schema<RewindConfig, RewindConfig>;
export declare function apply(ctx: Context, config: RewindConfig): void;

/** The source that marks a report of this package on the surface. */
export declare const REWIND_REPORT_SOURCE: Readonly<{ kind: 'plugin'; plugin: 'rewind' }>;

/** Tells reports from everything else this package writes. */
export declare function isRewindReportSource(source: MessageSource): source is MessageSource & RewindReportSource;

declare module '@deepseek-ai/cordis' {
  interface Context {
    rewind: RewindService;
  }
}
