/**
 * One exploration in the real loop, with a seam at every point where a fold waits or writes. It holds a
 * sibling of the checkpoint call and a person's words in the middle, so its fold lands a report, a pointer
 * and a rewritten sibling, each with its price event.
 */
import { setImmediate as tick } from 'node:timers/promises';
import { interruptedTurnClosers } from '@deepseek-ai/dsh-session';
import * as rewind from '../../index.js';
import { holder } from '../../plugin/host/lock.js';
import { snapshot } from '../laws/checks.js';
import { createLoop } from '../support/loop.js';
import { act, always, call, say } from '../support/script.js';
import { readTool } from '../support/tools.js';
import { Marks } from './marks.js';

const TEXT = 'a line that was read and that nobody needs afterwards\n'.repeat(60);
const CONFIG = { maxTokens: 1024 };
const EXPLORATION = [
  act([call('cp', 'checkpoint'), call('s1', 'read', { path: 'side' })]),
  act(call('c1', 'read', { path: 'one' })),
  act(call('c2', 'read', { path: 'two' })),
];

/** The words of the scripted report. */
export const REPORT = 'Two files were read. Neither holds the fault.';
/** What a fault throws or rejects with. */
export const FAULT = new Error('disk full');
/** Why a person's cancel ends a turn. */
export const USER = { kind: 'user' };

/** A plan without a fault of its own: a provider that can be told of a fold neither at once nor again. */
export const UNSTAMPED = {
  point: { seam: 'completeFold', count: 3, failing: 2 },
  act: (_rig, proceed) => proceed(),
};

/** The composition, the agent in it, and what happened so far. */
export class Rig {
  /**
   * Outcomes of every fold asked for, in order: `{ result }` or `{ error }`, snapshots, the lock's holder.
   */
  folds = [];
  /** Seqs that a fault itself appended, no part of any fold. */
  foreign = [];
  rejections = [];
  /** The log length of the first fold's mark. */
  logLength = undefined;
  /** Whether seams are counted: from the first fold on, or as a test says. */
  armed = false;
  /** How often each seam was passed since then. */
  passed = {};
  #steps = [];
  #plan = undefined;

  /**
   * @param plan - `{ point, act }`: what happens, once, at which seam; see `points.js`.
   * @returns a promise of the rig, its agent idle and its session empty.
   */
  static async create(plan = { point: {} }) {
    const rig = new Rig();
    rig.#plan = plan;
    process.on('unhandledRejection', rig.#onRejection);
    const seam = (point, proceed) => rig.seam(point, proceed);
    rig.loop = await createLoop({
      before: (ctx) => ctx.plugin(Marks, { seam }),
      tools: [readTool(({ path }) => {
        if (path === 'one') rig.agent.steer('do not touch the tests');
        return TEXT;
      })],
      steps: { main: always(() => rig.#steps.shift() ?? say('done')), report: always(say(REPORT)) },
    });
    rig.ctx = rig.loop.ctx;
    rig.#cutLlm();
    await rig.mount();
    await rig.live(await rig.loop.agent());
    return rig;
  }

  #onRejection = (reason) => this.rejections.push(reason);

  /** Mounts the package, again after it was disposed. */
  async mount() {
    this.plugin = await this.loop.mount(rewind, CONFIG);
    const { rewind: service } = this.ctx;
    const ask = service.rewind.bind(service);
    service.rewind = (...args) => this.#watch(args[0].session, () => ask(...args));
  }

  /** Makes an agent this rig's own. */
  async live(agent) {
    this.agent = agent;
    this.session = agent.session;
    const append = this.session.append.bind(this.session);
    this.append = append;
    this.session.append = (type, data, options) => {
      const ours = type === 'compaction/prune' || typeof options?.surfaceOp === 'object';
      return ours ? this.seam('append', () => append(type, data, options)) : append(type, data, options);
    };
  }

  #cutLlm() {
    const { llm } = this.ctx;
    const probe = llm.resolveModelInfo.bind(llm);
    llm.resolveModelInfo = (...args) => this.seam('probe', () => probe(...args));
    const stream = llm.stream.bind(llm);
    llm.stream = (options) => {
      if (options.maxTokens !== CONFIG.maxTokens) return stream(options);
      const opened = this.seam('stream', () => stream(options))[Symbol.asyncIterator]();
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => this.seam('chunk', () => opened.next()),
          return: () => opened.return(),
        }),
      };
    };
  }

  /** Passes a seam: the fault acts at its own, once, and everything else goes through. */
  seam(point, proceed) {
    if (!this.armed) return proceed();
    const { point: wanted, act: fault } = this.#plan;
    this.passed[point] = (this.passed[point] ?? 0) + 1;
    if (this.acted || wanted.seam !== point) return proceed();
    if (this.passed[point] <= wanted.failing) return Promise.reject(FAULT);
    if (this.passed[point] !== wanted.count) return proceed();
    this.acted = true;
    return fault(this, proceed);
  }

  #watch(session, ask) {
    this.armed = true;
    const fold = { before: snapshot(session) };
    this.logLength ??= this.ctx.checkpoint.peek(session.id)?.logLength;
    this.folds.push(fold);
    return (async () => {
      try {
        fold.result = await ask();
        return fold.result;
      } catch (error) {
        fold.error = error;
        throw error;
      } finally {
        fold.after = snapshot(session);
        fold.holder = holder(session);
      }
    })();
  }

  /** Runs the exploration up to the fold and lets the turn end. */
  explore() {
    this.#steps.push(...EXPLORATION, act(call('rw', 'rewind')));
    return this.agent.prompt('find the fault');
  }

  /** Runs the exploration and lets the turn end without a fold, over the guard. */
  wander() {
    this.#steps.push(...EXPLORATION);
    return this.agent.prompt('find the fault');
  }

  /** Asks for the fold again in a turn of its own, with whatever was disposed put back first. */
  async again() {
    await this.disposal;
    if (this.pluginGone) await this.mount();
    if (this.agentGone) {
      const seed = this.session.events;
      await this.live(await this.loop.agent({ id: this.session.id, seed }));
    }
    this.#steps.push(act(call('rw2', 'rewind')));
    return this.agent.prompt('fold it now');
  }

  /**
   * The process dies and the session is taken up from what was on disk, as a resume does it: the checkpoint
   * provider has a store of its own and still has its marks.
   *
   * @param length - how many events had reached the disk.
   */
  async crash(length) {
    const stored = this.session.events.slice(0, length);
    await this.agent.dispose();
    const seed = [...stored, ...interruptedTurnClosers(stored)];
    await this.live(await this.loop.agent({ id: this.session.id, seed }));
  }

  /** A person says something that has nothing to do with the exploration. */
  chat() {
    return this.agent.prompt('thank you');
  }

  /** A person cancels the turn. */
  cancel() {
    this.agent.agent.cancel(USER);
  }

  /** Disposes the agent without waiting: its end waits for the fold. */
  disposeAgent() {
    this.agentGone = true;
    this.disposal = this.agent.dispose();
  }

  /** Disposes the package without waiting. */
  disposePlugin() {
    this.pluginGone = true;
    this.disposal = this.plugin.dispose();
  }

  /** Somebody shortens the result of this point's call in place, as the harness's own pruner does. */
  prune() {
    const { session, append } = this;
    const { seq, data } = session.events.find((event) => event.type === 'tool/result'
      && event.data.message.content[0].toolCallId === this.#plan.point.changes);
    const [block] = data.message.content;
    const content = [{ ...block, content: [{ type: 'text', text: 'short' }] }];
    const tokens = this.ctx.tokenMeter.estimateMessage(data.message);
    const range = { start: seq, end: seq };
    const price = { shadowedRange: range, shadowedSeqs: [seq], shadowedTokenCount: tokens };
    const edit = { surfaceOp: { op: 'replace', ...range }, sourceEventSeqs: [seq] };
    this.foreign.push(
      append('compaction/prune', price).seq,
      append('tool/result', { ...data, message: { ...data.message, content } }, edit).seq,
    );
  }

  /** Another fold of the same session is asked for in the middle of the first. */
  foldAgain() {
    this.second = this.ctx.rewind.rewind(this.agent.agent).catch((error) => error);
  }

  /** Does something with the next event that is published, as a listener of that event. */
  onNextEvent(listener) {
    const stop = this.ctx.on('session/event', () => {
      stop();
      return listener();
    });
  }

  /** @returns how many warnings of the guard the session holds. */
  get nags() {
    return this.session.events.filter(({ type, data }) => type === 'user/message'
      && data.source.plugin === 'rewind-guard').length;
  }

  /** Takes everything down; a promise nobody handled has shown by then. */
  async dispose() {
    await this.loop.dispose();
    await tick();
    process.off('unhandledRejection', this.#onRejection);
  }
}
