import type { Context } from '@deepseek-ai/cordis';

export declare const name: 'tool-rewind-invariant';
export declare const inject: string[];

/** Registers the companion; the promise settles once its checks are installed, with the registration's disposer. */
export declare function apply(ctx: Context): Promise<unknown>;
