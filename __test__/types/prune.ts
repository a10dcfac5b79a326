/** The prune entry's types against real use: a composition, a row, and a plugin that brings a judge. */
import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '@deepseek-ai/dsh-agent';
import { HarnessError } from '@deepseek-ai/dsh-llm';
import * as prune from '@dpskh/tool-rewind/prune';
import { Config, ContextJudge, JudgeError, apply, inject, name } from '@dpskh/tool-rewind/prune';
import type {
  Judge, JudgeAnswers, JudgeQuestion, PruneConfig, ResolvedPruneConfig,
} from '@dpskh/tool-rewind/prune';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function same<A, B>(_: Equal<A, B>): void {}

/** Every closed set and every pair of types that a setting takes. */
const rows: PruneConfig[] = [
  {},
  { judge: 'mine', judgeOn: 'always', softLimit: 3000, compactSoftLimit: '70%', receiptLanguage: 'zh' },
  { keepMode: 'absolute', compactMode: 'relative', compactOn: 'off', receiptTransport: 'region', logLevel: 'debug' },
  { judgeProvider: 'p', judgeModel: 'm', compactTools: ['read'], evidencePatterns: [], subagents: true },
];

/** What a row becomes: all of it there, but for the route of the judge `llm`. */
export function resolve(row: PruneConfig): string {
  const resolved: ResolvedPruneConfig = Config(row);
  const shares: number[] = [resolved.keepThreshold, resolved.compactQuantile, resolved.receiptMaxRatio];
  const lists: string[][] = [resolved.neverPruneTools, resolved.compactTools, resolved.neverCompactTools];
  same<typeof resolved.judgeModel, string | undefined>(true);
  same<typeof resolved.softLimit, string | number>(true);
  same<typeof resolved.judgeOn, 'pressure' | 'always' | 'off'>(true);
  return `${shares.length + lists.length} ${resolved.heartbeatFile.length} ${resolved.judgeDeadlineMs.toFixed()}`;
}

/** A judge of another plugin: it may wait, miss ids, and say when to ask again. */
const judge: Judge = {
  id: 'mine',
  scale: 'ordinal',
  limits: { maxInputTokens: 8000, maxQuestions: 20 },
  ready: async (agent: Agent) => (agent.id ? { ok: true } : { ok: false, reason: 'no id' }),
  async ask({ state, questions }, { agent, signal }): Promise<JudgeAnswers> {
    if (signal.aborted) throw new JudgeError('BUSY', 'later', { retryable: true, retryAfterMs: 10, status: 429 });
    const known = questions.filter((question: JudgeQuestion) => state.includes(question.statement));
    const kind: 'noul' | undefined = known[0]?.kind;
    const answers = new Map(known.map(({ id }) => [id, { p: 0.5 }]));
    return { answers, model: `${agent.id} ${kind ?? ''}`, usage: { tokens: 1 } };
  },
};

/** Mounts the plugin, registers the judge and takes it away again. */
export async function use(ctx: Context): Promise<boolean> {
  for (const row of rows) await ctx.plugin(prune, row);
  await apply(ctx, Config({}));
  same<typeof ctx.contextJudge, ContextJudge>(true);
  const remove: () => void = ctx.contextJudge.registerJudge(judge);
  const found: Judge | undefined = ctx.contextJudge.judge('mine');
  const room: number[] = [found?.limits.maxInputTokens ?? 0, found?.limits.maxQuestions ?? 0];
  remove();
  return room.length === 2 && found === judge && inject.every((service: string) => service !== '');
}

/** Whoever asks a judge by himself reads how it failed. */
export function failure(error: unknown): string {
  if (!(error instanceof JudgeError)) return String(error);
  const harness: HarnessError = error;
  const wait: number | undefined = error.retryAfterMs;
  const status: number | undefined = error.status;
  return `${harness.code} ${error.retryable ? wait ?? 0 : status ?? ''}`;
}

same<typeof name, 'tool-rewind-prune'>(true);

// @ts-expect-error a key that does not exist
const unknownKey: PruneConfig = { headChrs: 1 };
// @ts-expect-error a limit is text or a number
const wrongLimit: PruneConfig = { softLimit: true };
// @ts-expect-error a mode of the other layer
const wrongMode: PruneConfig = { keepMode: 'relative' };
// @ts-expect-error a list, not a name
const wrongList: PruneConfig = { compactTools: 'read' };
// @ts-expect-error a judge has an id
const nameless: Judge = { ...judge, id: 3 };
// @ts-expect-error a judge says what its numbers mean
const scaleless: Judge = { id: 'x', limits: judge.limits, ready: judge.ready, ask: judge.ask };
// @ts-expect-error answers are a map of numbers
const worded: JudgeAnswers = { answers: new Map([['a', { p: 'high' }]]) };
// @ts-expect-error a resolved row has every other setting
const short: ResolvedPruneConfig = { judge: 'rules' };
void [unknownKey, wrongLimit, wrongMode, wrongList, nameless, scaleless, worded, short];
