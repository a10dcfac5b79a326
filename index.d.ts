import type { Context } from '@deepseek-ai/cordis';
import { Service } from '@deepseek-ai/cordis';
import type { Agent } from '@deepseek-ai/dsh-agent';
import { HarnessError } from '@deepseek-ai/dsh-llm';
import type { MessageSource, TokenUsage } from '@deepseek-ai/dsh-llm';
import type Schema from '@deepseek-ai/schemastery';

/** Why a fold was refused or failed; nothing was written then (docs/rewind.md 4.2). */
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
  /** Who wrote the report: the model, or code alone. */
  readonly report?: 'model' | 'receipt';
  /** The fold stands, and this is what a person should know of it. */
  readonly warning?: string;
}

/** The source of a landed report. Fold facts live here, for extra fields survive a round trip. */
export interface RewindReportSource extends Omit<RewindResult, 'warning'> {
  readonly kind: 'plugin';
  readonly plugin: 'rewind';
  /** Persons' words that folded with an open pair; carried word for word into a later fold's report. */
  readonly quotes?: readonly string[];
  /** Language of the texts around the prose. */
  readonly language?: 'en' | 'zh';
  /** Claims of the prose that were nowhere in what the model was sent. */
  readonly unverified?: readonly string[];
  /** The evidence ledger as data; a later fold takes it from here. */
  readonly ledger?: { readonly lines: readonly LedgerLine[]; readonly leftOut: number };
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

/** What a tool means to the evidence ledger. */
export interface LedgerTool {
  /** What calling it amounts to. */
  act: 'read' | 'write' | 'edit' | 'search' | 'command' | 'call' | 'effect' | 'tell' | 'quiet';
  /** The argument that says what it acts on. */
  argument?: string;
  /** The argument that says where it searches. */
  within?: string;
}

/** One fact of the evidence ledger. */
export interface LedgerLine {
  readonly kind: 'read' | 'written' | 'command' | 'search' | 'emptySearch' | 'error' | 'effect' | 'told' | 'stopped';
  /** The path, command, query, error or words; one line. */
  readonly what: string;
  /** How it ended the last time: a word, or one with a number. */
  readonly outcome: string | { readonly exit: number } | { readonly found: number };
  /** The newest seqs it was seen at, ascending. */
  readonly seqs: readonly number[];
  /** How many times it was seen. */
  readonly times: number;
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
  /** Language of the report and of the texts around it; `auto` follows the persons' own messages. Default `en`. */
  reportLanguage?: 'en' | 'zh' | 'auto';
  /** Who writes the report: the model, or code alone without any model call. Default `model`. */
  report?: 'model' | 'receipt';
  /** When the model gives no report: reject the fold, or land a report made by code alone. Default `reject`. */
  onSummaryFailure?: 'reject' | 'receipt';
  /** Whether what the report states and nothing shows is listed under it. Default `flag`. */
  claimCheck?: 'flag' | 'off';
  /** Tokens that a fold must be able to save; with less it is refused before any request. Default 0. */
  minSavings?: number;
  /** Share of the folded text that the evidence ledger may take, 0 to 1. Default 0.4. */
  ledgerShare?: number;
  /** The most the evidence ledger may take, in characters. Default 6000. */
  ledgerMaxChars?: number;
  /** What further tools mean to the ledger, by tool name. */
  ledgerTools?: Readonly<Record<string, LedgerTool>>;
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
