/** The prune entry's types against real use. */
import type { Context } from '@deepseek-ai/cordis';
import { Config, JudgeError, apply, name, type Judge, type PruneConfig } from '@dpskh/tool-rewind/prune';

const row: PruneConfig = { judge: 'mine', softLimit: 3000, compactSoftLimit: '70%', receiptLanguage: 'zh' };
const resolved: Required<PruneConfig> = Config(row);
const judge: Judge = {
  id: 'mine',
  scale: 'ordinal',
  limits: { maxInputTokens: 8000, maxQuestions: 20 },
  ready: async (agent) => (agent.id ? { ok: true } : { ok: false, reason: 'no id' }),
  async ask({ questions }, { signal }) {
    if (signal.aborted) throw new JudgeError('BUSY', 'later', { retryable: true, retryAfterMs: 10 });
    return { answers: new Map(questions.map(({ id }) => [id, { p: 0.5 }])) };
  },
};

export const plugin: 'tool-rewind-prune' = name;
export function use(ctx: Context): () => void {
  void apply(ctx, resolved);
  // @ts-expect-error a judge has an id
  ctx.contextJudge.registerJudge({ ...judge, id: 3 });
  return ctx.contextJudge.registerJudge(judge);
}
