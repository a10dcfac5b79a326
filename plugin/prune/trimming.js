/** Layer 1: what is cut when `toolResultPruner.pruneSession` is called (docs/prune.md 3.5). */
import { harness } from '../host/compat.js';
import { acquire, holder } from '../host/lock.js';
import { openTurn } from '../host/turn.js';
import { gateOf, gauge } from './gauge.js';
import { serviceOf } from './services.js';
import { OWNER, stateOf } from './state.js';
import { landTrims } from './trims.js';
import { isJudged, spread, verdictsFor } from './verdicts.js';
import { readView } from './view.js';

const NOTHING = Object.freeze({ pruned: Object.freeze([]), charsRemoved: 0 });

/** Layer 1 of one plugin instance. */
export class Trimming {
  /**
   * @param ctx - the plugin's context.
   * @param parts - `config`, the row; `settings`, the same compiled; `hooks`; `log`.
   * @param handles - tells whether a session is pruned at all.
   */
  constructor(ctx, { config, settings, hooks, log }, handles) {
    Object.assign(this, { ctx, config, settings, hooks, log, handles });
  }

  /** Stands in front of the pruner that an agent's compaction uses. */
  attach(agent) {
    const pruner = serviceOf(this.ctx, agent, 'toolResultPruner');
    if (pruner === undefined) return;
    const trimming = this;
    this.hooks.hook(
      pruner,
      'pruneSession',
      (behind) =>
        function pruneSession(session) {
          return trimming.pruneSession(session, this, () => Reflect.apply(behind, this, [session]));
        },
    );
  }

  /** Cuts at our own moment, through the hooked method, as the host would call it. */
  run(agent, dry) {
    const { session } = agent;
    const pruner = serviceOf(this.ctx, agent, 'toolResultPruner');
    if (pruner === undefined) return { blocked: 'no pruner' };
    if (dry) return this.plan(session);
    // Unjudged results wait for the host's own moment.
    if (!isJudged(this.config, session)) return { blocked: 'no verdicts' };
    if (openTurn(harness.events(session)) === undefined) return { blocked: 'no open turn' };
    pruner.pruneSession(session);
    return stateOf(session).last.trim;
  }

  /** What would be cut now: the core's plan, its counts, and the budget it was made with. */
  plan(session) {
    const read = readView(this.settings, session);
    const ratio = this.#ratio(session);
    const verdicts = verdictsFor(this.config, session, read);
    const plan = read.view.trims(verdicts, ratio);
    const { cuts, stock, keptByVerdict, keptByTail, keptByDeny, keptByBudget, keptAsCut } = plan;
    const kept = { keptByVerdict, keptByTail, keptByDeny, keptByBudget, keptAsCut };
    const need = spread(verdicts.need);
    return { plan, ratio, need, planned: cuts.length, unjudged: stock.length, ...kept };
  }

  #ratio(session) {
    const { judgeOn, softLimit, alwaysTrimRatio } = this.config;
    if (judgeOn === 'always') return alwaysTrimRatio;
    const { ratio } = gateOf(judgeOn, softLimit, gauge(this.ctx, session));
    // Who asks for a pass without pressure wants something freed.
    return stateOf(session).forcing ? Math.max(ratio, alwaysTrimRatio) : ratio;
  }

  /**
   * Stands in for `toolResultPruner.pruneSession`. It never throws: a result stays as it is rather than
   * failing a step.
   *
   * @param session - the session.
   * @param pruner - the stock pruner.
   * @param stock - runs the stock pruner's own method.
   * @returns what the stock method returns.
   */
  pruneSession(session, pruner, stock) {
    if (!this.handles(session) || this.config.dryRun) return stock();
    const state = stateOf(session);
    const release = acquire(session, OWNER);
    if (release === undefined) {
      state.last.trim = { blocked: `held by ${holder(session)}` };
      return NOTHING;
    }
    try {
      if (openTurn(harness.events(session)) === undefined) return NOTHING;
      const { plan, ...facts } = this.plan(session);
      const done = landTrims(session, plan, pruner, this.ctx.get('tokenMeter'), state.overflow);
      const { byVerdict, byVolume, pruned, charsRemoved, error } = done;
      state.counters.cutByVerdict += byVerdict;
      state.counters.cutByVolume += byVolume;
      state.counters.charsFreed += charsRemoved;
      const failed = error && this.#failed(session, error, 'cutting ended early');
      state.last.trim = { ...facts, byVerdict, byVolume, charsRemoved, overflow: state.overflow, failed };
      return { pruned, charsRemoved };
    } catch (error) {
      state.last.trim = { blocked: this.#failed(session, error, 'no result cut') };
      return NOTHING;
    } finally {
      release();
    }
  }

  /** Counts and says a failure; its code, or its words where it has none. */
  #failed(session, error, what) {
    stateOf(session).counters.errors += 1;
    this.log.once(`${session.id} trim ${error.message}`, `${what}: ${error.message}`);
    return error.code ?? error.message;
  }
}
