import type { Context } from '@deepseek-ai/cordis';
import type { Session } from '@deepseek-ai/dsh-session';
import type Schema from '@deepseek-ai/schemastery';

/** A point in a session's log from which an exploration is folded. Frozen: read it again for its fate. */
export interface CheckpointMark {
  /** 1, 2, … in each session, going on over resume and fork. */
  readonly id: number;
  /** The log's length when the mark was taken. */
  readonly logLength: number;
  /** The call that took the mark, as the model sees it; absent for a mark taken by code. */
  readonly callId?: string;
  /** What the exploration is to find out. */
  readonly objective?: string;
  /** When the mark was folded, in milliseconds since the epoch; null while it is not. */
  readonly foldedAt: number | null;
}

/** `ctx.checkpoint` as the bundled plugin provides it. */
export declare class CheckpointService {
  /** What the two tools are called in this row, for whoever speaks of them. */
  readonly tools: Readonly<{ checkpoint: string; rewind: string }>;
  /** Takes a mark at the present end of the log. Called by code, it lives in memory only. */
  mark(session: Session, objective?: string): Promise<CheckpointMark>;
  /** The most recent mark, folded or not; undefined when the session has none of its own. */
  latestMark(sessionId: string): Promise<CheckpointMark | undefined>;
  /** Whether the most recent mark is still to be folded. */
  hasActive(sessionId: string): Promise<boolean>;
  /** Stamps a mark as folded; a report in the log has done so already. Unknown marks are ignored. */
  completeFold(sessionId: string, markId: number): Promise<void>;
  /**
   * Sets an unfolded mark aside as if it had never been taken. It outlives a resume when a command whose
   * arguments begin with `discard` answers the returned seq as its `sourceEventSeq`; undefined for a mark in
   * memory, an unknown one or a folded one.
   */
  discard(sessionId: string, markId: number): Promise<number | undefined>;
}

/** The row's configuration. */
export interface CheckpointConfig {
  /** The tool's name, `checkpoint` by default; the entry plugin's `checkpointToolName` must agree. */
  toolName?: string;
  /** The name of the tool that folds, used in texts, `rewind` by default; the entry plugin's `toolName` must agree. */
  rewindToolName?: string;
}

export declare const name: 'tool-rewind-checkpoint';
export declare const inject: string[];
export declare const Config: Schema<CheckpointConfig, Required<CheckpointConfig>>;
export declare function apply(ctx: Context, config: Required<CheckpointConfig>): void;

declare module '@deepseek-ai/cordis' {
  interface Context {
    checkpoint: CheckpointService;
  }
}
