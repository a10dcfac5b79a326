/** Settings of turn memory (docs/turn-memory.md 2.2). */
import z from '@deepseek-ai/schemastery';
import { strict } from '../host/config.js';
import { pathFault } from '../host/home.js';

/** Longest timer that Node keeps, in milliseconds. */
const MAX_TIMER = 2_147_483_647;
/** Counts cross the border as 32-bit numbers. */
const MAX_COUNT = 4_294_967_295;

const flag = (fallback) => z.boolean().default(fallback);
const text = (fallback) => z.string().default(fallback);
const whole = (min, max, fallback) => z.natural().min(min).max(max).default(fallback);

/** The row's configuration. A typo or a value out of range fails the boot and names the key. */
export const Config = strict(z.object({
  summaryEngine: z.union(['replay', 'fork']).default('replay')
    .description('How a turn is summarized: one call over the true prefix, or rounds of a forked child.'),
  roundTimeoutMs: whole(1000, MAX_TIMER, 180_000)
    .description('Bounds each round of a summary: one replay call, or one fork child.'),
  maxRounds: whole(1, 10, 3)
    .description('Rounds of one fork attempt; each asks only for what is unfinished.'),
  maxAttemptsPerTurn: whole(1, 10, 3)
    .description('Attempts per turn in one process; compact_turn with a turn number starts over.'),
  maxWorkingChars: whole(100, 20_000, 2000)
    .description('Longest rewritten segment, in code points.'),
  minShrinkRatio: z.number().min(0).max(1).default(0.9)
    .description('A checkpoint lands only if its tokens are at most this share, above 0, of what it replaces.'),
  toolResultCapChars: whole(1, MAX_COUNT, 20_000)
    .description('Code points of one tool result in drafts and transcripts; head and tail are kept.'),
  maxRawChars: whole(1000, MAX_COUNT, 500_000)
    .description('Code points of a whole transcript; head and tail are kept.'),
  recallTimeoutMs: whole(1000, MAX_TIMER, 180_000)
    .description('Bounds one agentic recall.'),
  recallRecentWindowMs: whole(0, Number.MAX_SAFE_INTEGER, 7_200_000)
    .description('Turns that ended within it are recalled by a fork; 0 sends all to the cheap model.'),
  maxRecallDepth: whole(1, MAX_COUNT, 4)
    .description('Deepest delegation of a recall fork.'),
  cheapProvider: text('deepseek-official')
    .description('Provider that answers about older turns; empty with cheapModel: the session\'s own route.'),
  cheapModel: text('deepseek-chat')
    .description('Model that answers about older turns; empty with cheapProvider: the session\'s own route.'),
  cheapMaxTokens: whole(1, MAX_COUNT, 8192)
    .description('Output budget of such an answer, in tokens.'),
  keepRawCopy: flag(false)
    .description('Writes each replaced turn to $DSH_HOME/turn-memory/raw.'),
  debug: flag(false)
    .description('Writes a trace to $DSH_HOME/turn-memory-debug.log.'),
  prefixDumpDir: text('')
    .description('Folder where each landed checkpoint is written with its neighbours; absolute, or below $DSH_HOME; empty: nowhere.'),
}), 'turn-memory config', ({ cheapProvider, cheapModel, minShrinkRatio, prefixDumpDir }) => {
  if ((cheapProvider.trim() === '') !== (cheapModel.trim() === '')) {
    return 'cheapProvider and cheapModel are set together: both to a route, or both empty for the session\'s own.';
  }
  if (minShrinkRatio <= 0) return `minShrinkRatio must be above 0 and at most 1 but is ${minShrinkRatio}.`;
  return pathFault('prefixDumpDir', prefixDumpDir);
});
