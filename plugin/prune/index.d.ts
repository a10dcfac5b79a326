import type { Context, Service } from '@deepseek-ai/cordis';
import type { Agent } from '@deepseek-ai/dsh-agent';
import type { HarnessError } from '@deepseek-ai/dsh-llm';
import type Schema from '@deepseek-ai/schemastery';

/** When a layer works: under pressure of its soft limit, at every step, or never. */
export type When = 'pressure' | 'always' | 'off';

/** The row's configuration. Shares run from 0 to 1, counts from 1, lengths are code points from 0. */
export interface PruneConfig {
  /** Whether the plugin does anything at all. Default true. */
  enabled?: boolean;
  /** `auto` (the default), `rules`, `jev`, `llm`, or the id of a registered judge. */
  judge?: string;
  /** Provider of the `llm` judge; set with `judgeModel`. */
  judgeProvider?: string;
  /** Model of the `llm` judge; set with `judgeProvider`. */
  judgeModel?: string;
  /** Key of the `jev` judge; else the credential or environment variable `TYPESAFE_API_KEY`. */
  apiKey?: string;
  /** Model of the `jev` judge. Default `jev-latest`. */
  model?: string;
  /** Origin of the `jev` judge. Default `https://api.typesafe.ai`. */
  baseUrl?: string;
  /** When results are judged. Default `pressure`. */
  judgeOn?: When;
  /** Bound on one attempt. Default 60,000. */
  judgeTimeoutMs?: number;
  /** Bound on a whole pass. Default 8,000. */
  judgeDeadlineMs?: number;
  /** Further attempts, 0 to 10. Default 2. */
  judgeMaxRetries?: number;
  /** Wait before the first retry, doubled for each further one. Default 300. */
  judgeRetryBaseMs?: number;
  /** Whether child sessions are judged. Default false. */
  subagents?: boolean;
  /** A pass at most every so many steps. Default 1. */
  minStepsBetweenPasses?: number;
  /** Judge and plan, but land nothing. Default false. */
  dryRun?: boolean;
  /** Pressure from which results are cut: `'55%'`, or tokens. Default `'55%'`. */
  softLimit?: string | number;
  /** How results to cut are chosen. Default `budget`. */
  keepMode?: 'budget' | 'absolute';
  /** From this probability on a result is never cut by its verdict. Default 0.5. */
  keepThreshold?: number;
  /** With few candidates, results under this are cut; at most `keepThreshold`. Default 0.2. */
  keepFloorThreshold?: number;
  /** Fewer candidates are decided by `keepFloorThreshold`. Default 4. */
  minCandidatesForBudget?: number;
  /** With `judgeOn: always`: the share of possible savings that is freed. Default 0.5. */
  alwaysTrimRatio?: number;
  /** The least a cut must free. Default 40. */
  minGainChars?: number;
  /** The newest so many surface nodes are never cut. Default 4. */
  preserveRecent?: number;
  /** Kept from the start of a cut result. Default 600. */
  headChars?: number;
  /** Kept from its end. Default 200. */
  tailChars?: number;
  /** Shorter results are never cut by a verdict. Default 400. */
  minCharsToPrune?: number;
  /** Tools whose results are never cut. */
  neverPruneTools?: string[];
  /** Tokens of what a judge is told; less than `maxRequestTokens`. Default 25,000. */
  maxStateTokens?: number;
  /** Tokens of one request to a judge. Default 30,000. */
  maxRequestTokens?: number;
  /** Shown of a message's start. Default 400. */
  textHead?: number;
  /** Shown of its end. Default 150. */
  textTail?: number;
  /** Shown of a call's arguments. Default 300. */
  inputChars?: number;
  /** Shown of a result. Default 240. */
  resultExcerptChars?: number;
  /** The newest so many lines are always told. Default 8. */
  minHistoryLines?: number;
  /** Whether whole steps become receipts. Default true. */
  compactReceipts?: boolean;
  /** When receipts are made. Default `pressure`. */
  compactOn?: When;
  /** Pressure from which receipts are made. Default `'70%'`. */
  compactSoftLimit?: string | number;
  /** How steps are chosen. Default `relative`. */
  compactMode?: 'relative' | 'absolute';
  /** The share of each axis that counts as low; 0 turns receipts off. Default 0.34. */
  compactQuantile?: number;
  /** The newest so many surface nodes stay. Default 1. */
  compactPreserveRecent?: number;
  /** Fewer judged results are decided by `floorThreshold`; from 2. Default 4. */
  minCandidatesForRelative?: number;
  /** With fewer judged results nothing is moved. Default 2. */
  minCandidatesForFloor?: number;
  /** Both axes under this: moved, where a ranking says nothing. Default 0.2. */
  floorThreshold?: number;
  /** In absolute mode: both axes under this. Default 0.5. */
  compactThreshold?: number;
  /** Tools whose steps may become receipts; empty leaves `neverCompactTools` alone to decide. */
  compactTools?: string[];
  /** Tools whose steps never become receipts. */
  neverCompactTools?: string[];
  /** Whether results that hold evidence stay. Default true. */
  evidenceGuard?: boolean;
  /** Literals, found without regard to case where a word begins. */
  evidencePatterns?: string[];
  /** A step whose visible text is longer stays. Default 1,200. */
  maxStepTextChars?: number;
  /** A step whose reasoning is longer stays. Default 4,000. */
  maxStepReasoningChars?: number;
  /** The least a receipt must free. Default 2,000. */
  compactMinChars?: number;
  /** A receipt costs at most this share of the tokens it replaces. Default 0.5. */
  receiptMaxRatio?: number;
  /** At most so many receipts a pass. Default 3. */
  maxCompactionsPerPass?: number;
  /** Shown of a call's arguments in a receipt. Default 120. */
  receiptArgChars?: number;
  /** Quoted of a step's visible text. Default 400. */
  receiptTextChars?: number;
  /** Land receipts directly, or through compaction's bracket. Default `direct`. */
  receiptTransport?: 'direct' | 'region';
  /** Language of a receipt's own words. Default `en`. */
  receiptLanguage?: 'en' | 'zh';
  /** File that shows what the plugin saw and did; relative to `$DSH_HOME`; empty for none. */
  heartbeatFile?: string;
  /** The least severe message that is logged. Default `info`. */
  logLevel?: 'debug' | 'info' | 'warn' | 'error';
}

/** A row with its defaults; only the route of the judge `llm` has none. */
export type ResolvedPruneConfig =
  & Required<Omit<PruneConfig, 'judgeProvider' | 'judgeModel'>>
  & Pick<PruneConfig, 'judgeProvider' | 'judgeModel'>;

/** One statement for a judge; true means keep, or has effect. */
export interface JudgeQuestion {
  readonly id: string;
  readonly statement: string;
  readonly kind: 'noul';
}

/** What a judge answers. Ids may be missing; values are clamped to 0 to 1. */
export interface JudgeAnswers {
  answers: Map<string, { p: number }>;
  model?: string;
  usage?: unknown;
}

/** Says how likely statements about a session are true. */
export interface Judge {
  readonly id: string;
  /** Of an `ordinal` judge only the order of its numbers means anything. */
  readonly scale: 'probability' | 'ordinal';
  readonly limits: { readonly maxInputTokens: number; readonly maxQuestions: number };
  ready(agent: Agent): Promise<{ ok: true } | { ok: false; reason: string }>;
  ask(
    request: { state: string; questions: readonly JudgeQuestion[] },
    io: { agent: Agent; signal: AbortSignal },
  ): Promise<JudgeAnswers>;
}

/** A failed request to a judge. A judge may throw one to say whether and when to ask again. */
export declare class JudgeError extends HarnessError {
  constructor(code: string, message: string, facts?: {
    retryable?: boolean; retryAfterMs?: number; status?: number; cause?: unknown;
  });
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
}

/** `ctx.contextJudge`: where another plugin adds a judge. */
export declare class ContextJudge extends Service {
  constructor(ctx: Context);
  /** Adds a judge; it goes with the plugin that registered it. Throws `BAD_JUDGE` for one that cannot be used. */
  registerJudge(judge: Judge): () => void;
  /** The judge registered under an id. */
  judge(id: string): Judge | undefined;
}

export declare const name: 'tool-rewind-prune';
export declare const inject: string[];
export declare const Config: Schema<PruneConfig, ResolvedPruneConfig>;
export declare function apply(ctx: Context, config: ResolvedPruneConfig): Promise<void>;

declare module '@deepseek-ai/cordis' {
  interface Context {
    contextJudge: ContextJudge;
  }
}
