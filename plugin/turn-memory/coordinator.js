/**
 * One session's turns on their way to checkpoints: which turn is tried when, one at a time, and at which
 * boundary a finished checkpoint lands (docs/turn-memory.md 2.6). Everything here is re-derivable from
 * the log, so nothing of it is stored.
 */
import { follow, untilAborted } from '../host/abort.js';
import { harness } from '../host/compat.js';
import { RewindError } from '../host/error.js';
import { acquire } from '../host/lock.js';
import { findReport } from '../host/reports.js';
import { CheckpointPlan, classified, refusal } from './plan.js';
import { turnsOf } from './turns.js';

const OWNER = 'turn-memory';

/** Turns that are passed over where a turn is picked and not named. */
const HOPELESS = new Set(['NO_SHRINK', 'NOTHING_TO_COMPACT']);

/** The turns of one agent's session. */
export class Coordinator {
  /** What is known of a turn in this process. @type {Map<number, { attempts: number, last?: string }>} */
  #known = new Map();
  /** Turns to try, in order. @type {{ turn: number, idle: boolean }[]} */
  #queue = [];
  /** Finished checkpoints that wait for a boundary. @type {Map<number, CheckpointPlan>} */
  #ready = new Map();
  #running;
  #draining = false;
  #life = new AbortController();

  /**
   * @param host - `{ ctx, config, fill, landed, trace }`: the plugin's context and row, the engine, what to do
   *   once a checkpoint stands, and the trace.
   * @param agent - the agent.
   */
  constructor(host, agent) {
    this.host = host;
    this.agent = agent;
    this.session = agent.session;
  }

  /** Aborts whatever runs; nothing lands afterwards. */
  end() {
    this.#life.abort(refusal('ABORTED', 'the session or the plugin was disposed; the turn stays raw.'));
    this.#queue = [];
    this.#ready.clear();
  }

  /** A turn of this process ended. */
  ended(turn) {
    this.#know(turn);
  }

  /** The agent came to life: its last turn without a checkpoint is tried at once. Older gaps stay raw. */
  resumed() {
    const [turn] = turnsOf(this.session).unsummarized;
    if (turn === undefined) return;
    this.#know(turn);
    this.#enqueue([turn], false);
  }

  /** The agent is idle: finished checkpoints land, then known turns are tried, the newest first, then the oldest. */
  idle(mayStart) {
    this.land(false);
    if (!mayStart) return;
    const raw = turnsOf(this.session).unsummarized.filter((turn) => this.#known.has(turn));
    const [newest, ...older] = raw.filter((turn) => this.#mayTry(turn));
    if (newest !== undefined) this.#enqueue([newest, ...older.toReversed()], true);
  }

  /**
   * Starts a turn's summary because somebody asked.
   *
   * @param asked - the turn's number; undefined for the newest ended turn without a checkpoint.
   * @returns a sentence about what was started.
   * @throws {RewindError} the classified outcome where nothing was.
   */
  request(asked) {
    const table = turnsOf(this.session);
    if (asked === undefined && !table.anyCompleted) {
      throw refusal('NO_COMPLETED_TURN', 'no turn has ended in this session yet; a turn is compacted after it ended.');
    }
    const turn = asked ?? this.#pick(table.unsummarized);
    classified(() => table.startOf(turn));
    if (this.#busyWith(turn)) {
      throw refusal('ALREADY_RUNNING', `turn ${turn} is being summarized already; its checkpoint lands by itself.`);
    }
    if (table.isCompacting) {
      throw refusal('COMPACTION_BUSY', 'a session compaction is running; ask again when it has ended.');
    }
    this.#plan(turn).close();
    const item = this.#know(turn);
    if (asked !== undefined) item.attempts = 0;
    if (item.attempts >= this.host.config.maxAttemptsPerTurn) {
      throw refusal('ATTEMPTS_EXHAUSTED', `turn ${turn} was tried ${item.attempts} times (last outcome: ${item.last}); `
        + `it stays raw. compact_turn with turn ${turn} starts over.`);
    }
    const waits = this.#running === undefined ? '' : ` It waits for turn ${this.#running.turn}.`;
    const before = item.last === undefined ? '' : ` Its last outcome was ${item.last}.`;
    this.#enqueue([turn], false);
    return `started: turn ${turn} is being summarized in the background; its checkpoint lands by itself.${waits}${before}`;
  }

  /** The newest raw turn that a summary can help, else the newest of all with its refusal. */
  #pick(raw) {
    const [newest] = raw;
    if (newest === undefined) throw refusal('ALREADY_REPLACED', 'every ended turn has its checkpoint; nothing to do.');
    let first;
    for (const turn of raw) {
      if (this.#busyWith(turn)) return turn;
      try {
        this.#plan(turn).close();
        return turn;
      } catch (error) {
        if (!HOPELESS.has(error.code)) throw error;
        first ??= error;
      }
    }
    throw first;
  }

  #know(turn) {
    let item = this.#known.get(turn);
    if (item === undefined) this.#known.set(turn, item = { attempts: 0 });
    return item;
  }

  #busyWith(turn) {
    return this.#running?.turn === turn || this.#ready.has(turn);
  }

  #mayTry(turn) {
    return !this.#busyWith(turn) && this.#know(turn).attempts < this.host.config.maxAttemptsPerTurn;
  }

  #plan(turn) {
    const { ctx, config } = this.host;
    return new CheckpointPlan(ctx.tokenMeter, this.session, turn, config);
  }

  #enqueue(turns, idle) {
    for (const turn of turns) {
      const queued = this.#queue.find((entry) => entry.turn === turn);
      // Asked for by name, it no longer depends on idleness.
      if (queued !== undefined) queued.idle &&= idle;
      else if (!this.#busyWith(turn)) this.#queue.push({ turn, idle });
    }
    if (this.#draining) return;
    this.#draining = true;
    // Later than the event that asked: a listener must neither be delayed nor find the log changed under it.
    queueMicrotask(() => this.#drain().finally(() => {
      this.#draining = false;
    }));
  }

  async #drain() {
    for (let entry = this.#queue.shift(); entry !== undefined; entry = this.#queue.shift()) {
      // What idleness started waits for the next idleness once a new turn runs.
      if (entry.idle && this.agent.status !== 'idle') continue;
      await this.#attempt(entry.turn);
    }
  }

  async #attempt(turn) {
    const item = this.#know(turn);
    const stop = follow(this.#life.signal);
    this.#running = { turn };
    let plan;
    try {
      plan = this.#plan(turn);
      if (plan.draft.unfinished.length > 0) {
        item.attempts += 1;
        await this.host.fill(this.agent, plan, (run) => this.#round(stop.signal, run));
      }
      if (stop.signal.aborted) throw stop.signal.reason;
      plan.finish();
      plan.mark = await this.#markInside(turn, stop.signal);
      this.#ready.set(turn, plan);
    } catch (error) {
      plan?.close();
      this.#settle(turn, error);
    } finally {
      this.#running = undefined;
      stop.release();
    }
    this.land(false);
  }

  /** Runs one round: it ends when it settles, is cancelled or has had its time, and nothing is awaited beyond. */
  async #round(signal, run) {
    const { roundTimeoutMs } = this.host.config;
    const stop = follow(signal);
    const timer = setTimeout(() => {
      stop.abort(refusal('TIMEOUT', `the round took longer than ${roundTimeoutMs} ms; the turn stays raw.`));
    }, roundTimeoutMs);
    try {
      return await untilAborted(run(stop.signal), stop.signal);
    } finally {
      clearTimeout(timer);
      stop.release();
    }
  }

  /** The session's unfolded mark, if it was taken in this turn: its carrier must stay until it is folded. */
  async #markInside(turn, signal) {
    const { start, end } = turnsOf(this.session).turn(turn);
    try {
      const mark = await untilAborted(this.host.ctx.get('checkpoint')?.latestMark(this.session.id), signal);
      const folded = mark === undefined || (mark.foldedAt ?? null) !== null;
      return !folded && mark.logLength > start && mark.logLength <= end ? mark : undefined;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.host.ctx.logger?.error(error);
      return undefined;
    }
  }

  /**
   * Lands every finished checkpoint that can land now.
   *
   * @param atBoundary - whether the caller stands at a turn's or a step's boundary; while a turn is open,
   *   nothing lands anywhere else.
   */
  land(atBoundary) {
    if (this.#ready.size === 0 || this.#life.signal.aborted) return;
    const table = turnsOf(this.session);
    if (!atBoundary && (this.agent.status !== 'idle' || table.isOpen)) return;
    if (table.isCompacting) return;
    for (const [turn, plan] of this.#ready) {
      if (this.#isHeld(turn, plan)) continue;
      const release = acquire(this.session, OWNER);
      // Another writer is at work: the next boundary comes.
      if (release === undefined) return;
      this.#ready.delete(turn);
      try {
        const event = plan.land();
        this.#settle(turn);
        this.host.landed(this.session, plan, event);
      } catch (error) {
        this.#settle(turn, error);
      } finally {
        release();
      }
    }
  }

  /** A mark's carrier stays where it is until the mark is folded or another turn has ended after it. */
  #isHeld(turn, { mark }) {
    if (mark === undefined || findReport(this.session, mark) !== undefined) return false;
    return !turnsOf(this.session).endedAfter(turn);
  }

  /** Notes how a turn's attempt ended. Without an error it landed. */
  #settle(turn, error) {
    const item = this.#know(turn);
    const code = error === undefined ? 'LANDED' : error?.code ?? 'FAILED';
    // Outcomes of ours are told where somebody asks; what the session or the harness throws is news.
    if (error !== undefined && !(error instanceof RewindError)) this.host.ctx.logger?.error(error);
    item.last = error === undefined ? undefined : code;
    this.host.trace.line(this.session, `turn=${turn} attempt=${item.attempts} outcome=${code}`);
  }
}

/** Boundaries at which a checkpoint may land while a turn is open. */
const BOUNDARIES = new Set(['turn/start', 'step/end']);

/** The coordinators of one plugin instance. */
export class Coordinators {
  /** @type {Map<object, Coordinator>} */
  #byAgent = new Map();
  /** @type {WeakMap<object, Coordinator>} */
  #bySession = new WeakMap();

  /** @param host - as {@link Coordinator} takes it. */
  constructor(host) {
    this.host = host;
    const { ctx } = host;
    ctx.on('agent/created', ({ agent }) => this.#adopt(agent));
    ctx.on('agent/disposed', ({ agent }) => this.#drop(agent));
    ctx.on('agent/status', ({ agent, status }) => {
      const coordinator = status === 'idle' ? this.#byAgent.get(agent) : undefined;
      // A process that ends after its turn must not be kept, nor pay for a summary nobody waits for.
      if (coordinator) queueMicrotask(() => coordinator.idle(ctx.get('headlessStartup') === undefined));
    });
    ctx.on('session/event', (session, event) => this.#observe(session, event));
    ctx.effect(() => () => {
      for (const agent of this.#byAgent.keys()) this.#drop(agent);
    }, 'turn-memory: coordinators');
    for (const agent of ctx.agents.list()) this.#adopt(agent);
  }

  /** @returns the coordinator of an agent's session, undefined where the session is not eligible. */
  of(agent) {
    return this.#byAgent.get(agent);
  }

  #adopt(agent) {
    if (!isEligible(agent.session)) return;
    const coordinator = new Coordinator(this.host, agent);
    this.#byAgent.set(agent, coordinator);
    this.#bySession.set(agent.session, coordinator);
    if (harness.logLength(agent.session) > 0) coordinator.resumed();
  }

  #drop(agent) {
    this.#byAgent.get(agent)?.end();
    this.#byAgent.delete(agent);
    this.#bySession.delete(agent.session);
  }

  #observe(session, event) {
    const coordinator = this.#bySession.get(session);
    if (coordinator === undefined) return;
    if (event.type === 'turn/end') coordinator.ended(event.data.turn);
    // Appending from a listener throws, and the loop has not projected the next request yet: a microtask is the
    // one moment between (docs/turn-memory.md 2.6).
    if (BOUNDARIES.has(event.type)) queueMicrotask(() => coordinator.land(true));
    if (event.type === 'compaction/end') queueMicrotask(() => coordinator.land(false));
  }
}

/** Whose turns get checkpoints: every session that is no subagent's (docs/turn-memory.md 2.1). */
function isEligible({ header }) {
  return header.origin !== 'subagent' && (header.delegationDepth ?? 0) === 0;
}
