/** Which judge a pass uses (docs/prune.md 3.2). */
import { untilAborted } from '../host/abort.js';
import { jevJudge } from './judges/jev.js';
import { llmJudge } from './judges/llm.js';

/** The judge that needs nobody: its verdicts are made by the core, each time anew. */
export const RULES = Object.freeze({ id: 'rules', scale: 'probability' });

/**
 * Makes the choice of one configuration.
 *
 * @param ctx - the plugin's context.
 * @param config - the row.
 * @param registry - the service that knows registered judges.
 * @param log - the plugin's log; each reason for having no judge is said once.
 * @returns `choose(agent, signal)`, a promise of `{ judge }`, or of `{ why }` where results stay unjudged.
 */
export function judgeChooser(ctx, config, registry, log) {
  const jev = jevJudge(ctx, config);
  const builtIn = new Map([
    ['rules', RULES],
    ['jev', jev],
    ['llm', llmJudge(ctx, config)],
  ]);
  const absolute = ['keepMode', 'compactMode'].find((key) => config[key] === 'absolute');

  const isReady = async (judge, agent, signal) => {
    if (judge === RULES) return { ok: true };
    try {
      const answer = await untilAborted(
        Promise.resolve().then(() => judge.ready(agent)),
        signal,
      );
      return answer?.ok === true ? { ok: true } : { ok: false, reason: answer?.reason ?? 'it is not ready' };
    } catch (error) {
      return { ok: false, reason: error?.message ?? String(error) };
    }
  };

  return async (agent, signal) => {
    if (config.judge === 'auto') return { judge: (await isReady(jev, agent, signal)).ok ? jev : RULES };
    const unjudged = (key, why) => {
      log.once(key, `${why}: results stay unjudged`);
      return { why };
    };
    const judge = builtIn.get(config.judge) ?? registry.judge(config.judge);
    if (judge === undefined) return unjudged(`judge ${config.judge}`, registry.missing(config.judge));
    if (absolute && judge.scale === 'ordinal') {
      const why = `${absolute} is absolute, but the judge "${judge.id}" only ranks (use the other mode)`;
      return unjudged(`scale ${judge.id}`, why);
    }
    const { ok, reason } = await isReady(judge, agent, signal);
    if (ok) return { judge };
    return unjudged(`ready ${judge.id} ${reason}`, `the judge "${judge.id}" is not ready (${reason})`);
  };
}
