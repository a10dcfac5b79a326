import type { Context } from '@deepseek-ai/cordis';
import type Schema from '@deepseek-ai/schemastery';

/** The row's configuration. */
export interface RecallConfig {
  /** Bound on one result, in UTF-16 code units, from 1,000 to 200,000. Default 8,000. */
  maxRecallChars?: number;
}

export declare const name: 'tool-rewind-recall';
export declare const inject: string[];
export declare const Config: Schema<RecallConfig, Required<RecallConfig>>;
export declare function apply(ctx: Context, config: Required<RecallConfig>): void;
