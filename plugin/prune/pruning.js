/**
 * When a pass runs over a session, who judges in it, and what it leaves for the heartbeat. What goes is
 * decided by the core; the two layers land it.
 */
import { follow } from '../host/abort.js';
import { RULES, judgeChooser } from './choose.js';
import { Compacting } from './compacting.js';
import { gateOf, gauge, learnWindow } from './gauge.js';
import { JudgeError } from './judges/error.js';
import { runJudge } from './judging.js';
import { serviceOf } from './services.js';
import { goalOf, stateOf } from './state.js';
import { Trimming } from './trimming.js';
import { readView } from './view.js';

/** Pruning of one plugin instance. */
export class Pruning {
  #choose;
  #applied = true;

  /**
   * @param ctx - the plugin's context.
   * @param parts - `config`, the row; `settings`, the same compiled; `hooks`; `registry`, the service of
   *   judges; `log`; `beat`, the heartbeat.
   */
  constructor(ctx, parts) {
    Object.assign(this, { ctx, ...parts });
    const handles = (session) => this.handles(session);
    this.trimming = new Trimming(ctx, parts, handles);
    this.compacting = new Compacting(ctx, parts, handles);
    this.#choose = judgeChooser(ctx, parts.config, parts.registry, parts.log);
  }

  /** After this nothing is landed any more, whatever was under way. */
  dispose() {
    this.#applied = false;
    this.hooks.dispose();
  }

  /** @returns whether a session is pruned at all: child sessions only where the configuration says so. */
  handles(session) {
    return this.#applied && (this.config.subagents || session.header.origin !== 'subagent');
  }

  /** Stands in front of the services that an agent resolves. */
  attach(agent) {
    this.trimming.attach(agent);
    this.compacting.attach(agent);
  }

  /**
   * A pass before a step: judge where a gate is open, then cut, then make receipts.
   *
   * @param payload - the payload of `agent/pre-step`.
   */
  async preStep({ agent, messages, signal }) {
    const { session } = agent;
    if (!this.handles(session)) return;
    this.attach(agent);
    const state = stateOf(session);
    state.goal = goalOf(session, messages);
    state.steps += 1;
    await this.learnWindow(agent, signal);
    const gates = this.gates(session);
    const open = gates.trim.open || gates.compact.open;
    if (state.forced || (open && state.steps >= this.config.minStepsBetweenPasses)) {
      const forced = state.forced;
      Object.assign(state, { steps: 0, forced: false });
      await this.pass(agent, { forced, pending: messages, signal, gates });
    } else {
      Object.assign(state.last, { gates, skipped: open ? 'steps' : 'gates' });
    }
    this.heartbeat(agent);
  }

  /** Learns the window of the agent's route, but waits no longer for it than for a judge. */
  async learnWindow(agent, signal) {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(this.config.judgeDeadlineMs)]);
    await learnWindow(this.ctx, agent, bound).catch(() => {});
  }

  /** @returns both layers' gates at this moment, and what they were held against. */
  gates(session) {
    const reading = gauge(this.ctx, session);
    const { config } = this;
    const gates = {
      ...reading,
      trim: gateOf(config.judgeOn, config.softLimit, reading),
      // Without verdicts there is nothing a receipt could go by.
      compact: gateOf(
        config.compactReceipts && config.judgeOn !== 'off' ? config.compactOn : 'off',
        config.compactSoftLimit,
        reading,
      ),
    };
    for (const [key, { reason }] of [
      ['softLimit', gates.trim],
      ['compactSoftLimit', gates.compact],
    ]) {
      if (reason === 'unmeasured')
        this.log.once(`unmeasured ${key}`, `no token meter: ${key} lets every pass through`);
    }
    return gates;
  }

  /**
   * One pass, whatever the gates say of it where `forced`.
   *
   * @param agent - the agent.
   * @param how - `forced`; `pending`, messages of the step; `signal`; `gates`; `dry`, land nothing.
   * @returns a promise of what happened, as the heartbeat shows it.
   * @throws the signal's reason.
   */
  async pass(agent, { forced = false, pending = [], signal, gates, dry = this.config.dryRun }) {
    const { session } = agent;
    const state = stateOf(session);
    state.counters.passes += 1;
    const last = { gates, at: new Date().toISOString(), forced, dry };
    state.last = last;
    state.forcing = forced;
    try {
      last.judge = await this.judge(agent, pending, signal);
      signal.throwIfAborted();
      if (!this.#applied) return last;
      if (last.judge.failed) {
        last.blocked = last.judge.reason;
        return last;
      }
      if (forced || gates.trim.open) last.trim = this.trimming.run(agent, dry);
      // What layer 1 freed may have been enough.
      const compact = forced || gates.compact.open ? this.gates(session).compact : gates.compact;
      if (forced || compact.open) last.compact = await this.compacting.run(agent, dry, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      state.counters.errors += 1;
      Object.assign(last, { blocked: error.code ?? 'ERROR', why: error.message });
      this.log.once(`${session.id} ${error.code} ${error.message}`, `nothing pruned: ${error.message}`);
    } finally {
      state.forcing = false;
    }
    this.#say(last);
    return last;
  }

  #say({ dry, trim, compact }) {
    const { byVerdict = 0, byVolume = 0, charsRemoved = 0 } = trim ?? {};
    const { full = 0, partial = 0, charsFreed = 0 } = compact ?? {};
    if (dry || byVerdict + byVolume + full + partial === 0) return;
    this.log.info(
      `${byVerdict} results cut by verdict, ${byVolume} by size, ${full} receipts, ${partial} inside ` +
        `batches: ${charsRemoved + charsFreed} characters freed`,
    );
  }

  /** Verdicts for the surface as it stands; `failed` tells that there is none to go by. */
  async judge(agent, pending, signal) {
    const state = stateOf(agent.session);
    if (this.config.judgeOn === 'off') return { failed: true, reason: 'judgeOn is off' };
    const bound = follow(signal);
    const deadline = Date.now() + this.config.judgeDeadlineMs;
    const timer = setTimeout(() => {
      bound.abort(new JudgeError('JUDGE_DEADLINE', 'the judge took too long'));
    }, this.config.judgeDeadlineMs);
    try {
      const { judge, why } = await this.#choose(agent, bound.signal);
      state.judge = judge?.id;
      if (judge === undefined) return { failed: true, reason: why };
      if (judge === RULES) return { id: judge.id, failed: false };
      const { view, events } = readView(this.settings, agent.session);
      const report = await runJudge(judge, {
        agent,
        view,
        events,
        pending,
        config: this.config,
        deadline,
        signal: bound.signal,
      });
      return this.#reported(judge, report, state);
    } finally {
      clearTimeout(timer);
      bound.release();
    }
  }

  #reported(judge, { errors, ...numbers }, state) {
    state.counters.judged += numbers.judged;
    for (const error of errors) this.log.debug(`judge ${judge.id}: ${error?.message ?? error}`);
    const [first] = errors;
    if (
      this.config.judge === 'auto' &&
      errors.some((error) => error?.status === 401 || error?.status === 403)
    ) {
      this.log.once('refused', `jev refused the key, so the rules judge: ${first.message}`);
      state.judge = RULES.id;
      return { id: RULES.id, failed: false };
    }
    const failed = numbers.batches > 0 && numbers.failed === numbers.batches;
    if (failed)
      this.log.once(`failed ${judge.id}`, `the judge ${judge.id} failed: ${first?.message ?? first}`);
    return { id: judge.id, ...numbers, failed, ...(failed && { reason: first?.code ?? 'the judge failed' }) };
  }

  /** Where we stand in front of what an agent resolves. */
  #hooksOf(agent) {
    const stateOfHook = ([service, method]) => {
      const target = serviceOf(this.ctx, agent, service);
      if (target === undefined) return [service, 'absent'];
      return [service, this.hooks.holds(target, method) ? 'hooked' : 'not hooked'];
    };
    return Object.fromEntries([['toolResultPruner', 'pruneSession'], ['compaction', 'summarize']].map(stateOfHook));
  }

  /** Writes the heartbeat of an agent. */
  heartbeat(agent) {
    const { last, counters, judge } = stateOf(agent.session);
    this.beat(agent.id, {
      hooks: this.#hooksOf(agent),
      judge,
      counters,
      last: shown(last),
      warnings: this.log.warnings,
    });
  }
}

/** A pass without the plans and texts it went by. */
function shown({ trim, compact, ...rest }) {
  const { plan: _plan, ...trimmed } = trim ?? {};
  const { edits: _edits, ...compacted } = compact ?? {};
  return { ...rest, ...(trim && { trim: trimmed }), ...(compact && { compact: compacted }) };
}
