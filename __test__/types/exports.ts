/** Compiled, never run: the declared types against the way a plugin author uses them. */
import type { Context } from '@deepseek-ai/cordis';

declare const ctx: Context;
void ctx.logger;
