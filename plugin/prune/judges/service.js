/** `ctx.contextJudge`: where another plugin adds a judge (docs/prune.md 3.2). */
import { Service } from '@deepseek-ai/cordis';
import { RewindError } from '../../host/error.js';

/** Ids that the configuration gives a meaning of its own. */
export const RESERVED = ['auto', 'rules', 'jev', 'llm'];

/** The judges that plugins have registered, by id. */
export class ContextJudge extends Service {
  /** By id. A private field would not be seen through the proxies that cordis gives out. */
  judges = new Map();

  /** @param ctx - the context of the prune plugin. */
  constructor(ctx) {
    super(ctx, 'contextJudge');
  }

  /**
   * Adds a judge, which the configuration chooses by its id. It goes with the plugin that registered it.
   *
   * @param judge - `id`; `scale`, `probability` or `ordinal`; `limits`, `{ maxInputTokens, maxQuestions }`;
   *   `ready(agent)`, a promise of `{ ok: true }` or `{ ok: false, reason }`; `ask({ state, questions }, {
   *   agent, signal })`, a promise of `{ answers: Map<id, { p }>, model, usage? }`. Ids may be missing from
   *   the answers, values are clamped to 0 to 1, errors may carry `retryable` and `retryAfterMs`.
   * @returns {() => void} takes the judge away.
   * @throws {RewindError} `BAD_JUDGE` for a judge that lacks one of these, or an id that is taken.
   */
  registerJudge(judge) {
    const fault = faultOf(judge) ?? (this.judges.has(judge.id) ? `the id "${judge.id}" is taken` : undefined);
    if (fault) throw new RewindError('BAD_JUDGE', `This judge cannot be registered: ${fault}.`);
    const { judges } = this;
    return this.ctx.effect(() => {
      judges.set(judge.id, judge);
      return () => {
        judges.delete(judge.id);
      };
    }, 'contextJudge.registerJudge()');
  }

  /**
   * @param {string} id - a judge's id.
   * @returns the judge registered under it, or undefined.
   */
  judge(id) {
    return this.judges.get(id);
  }

  /**
   * @param {string} id - a judge's id, as the row names it.
   * @returns {string | undefined} half a sentence that names the judges there are, where it is none of them.
   */
  missing(id) {
    if (RESERVED.includes(id) || this.judges.has(id)) return undefined;
    const known = [...RESERVED, ...this.judges.keys()].join(', ');
    return `no judge "${id}" is registered (there are ${known})`;
  }
}

function faultOf(judge) {
  if (typeof judge?.id !== 'string' || judge.id.trim() === '') return 'it has no id';
  if (judge.id !== judge.id.trim()) return `the id "${judge.id}" has space around it`;
  if (RESERVED.includes(judge.id.toLowerCase())) return `the id "${judge.id}" is reserved`;
  if (!['probability', 'ordinal'].includes(judge.scale))
    return 'its scale is neither "probability" nor "ordinal"';
  for (const key of ['maxInputTokens', 'maxQuestions']) {
    if (!(judge.limits?.[key] >= 1)) return `limits.${key} is not a number of at least 1`;
  }
  const missing = ['ready', 'ask'].find((method) => typeof judge[method] !== 'function');
  return missing === undefined ? undefined : `it has no method ${missing}`;
}
