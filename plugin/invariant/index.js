/**
 * Watches every surface replacement, whoever makes it, and refuses one that itself breaks the session: a pair
 * of call and result split, a person's message shadowed by one of this package's messages, a promise of its
 * source fields broken. An append is never refused, and a fault that was there before is not its business.
 * Load it beside `@deepseek-ai/dsh-invariants`, as the harness's own companions are.
 */
import { harness } from '../host/compat.js';
import { addedFault } from './pairs.js';
import { brokenPromise } from './promises.js';

const PACKAGE_NAME = '@dpskh/tool-rewind';
const SURFACE_TYPES = new Set(['user/message', 'assistant/message', 'tool/result']);

/** Cordis companion plugin name. */
export const name = 'tool-rewind-invariant';

/** The registry must be there before the companion can take its package's place in it. */
export const inject = ['invariants'];

const rangeOf = ({ start, startSeq, end, endSeq }) => ({ start: start ?? startSeq, end: end ?? endSeq });

/**
 * @param {object} session - the session, the candidate not yet in its log.
 * @param {object} candidate - a surface event that replaces a range.
 * @param {(seq: number) => object | undefined} eventOf - reads a logged surface event.
 * @returns {string | undefined} what the replacement breaks.
 */
function judge(session, candidate, eventOf) {
  const { nodes } = session.surface;
  const { start, end } = rangeOf(candidate.surfaceOp);
  const range = { first: nodes.indexOf(start), last: nodes.indexOf(end) };
  const shadowed = nodes.slice(range.first, range.last + 1).map(eventOf);
  const surface = { find: (test) => eventOf(nodes.findLast((seq) => test(eventOf(seq)))) };
  return brokenPromise(candidate, shadowed, surface) ?? addedFault(candidate, nodes, range, eventOf);
}

/** Installs the checks in the registry's child fiber. */
const install = Object.assign(
  (ctx, fail) => {
    /** Surface events by session and seq, so that no judgement has to copy the log. */
    const logs = new WeakMap();
    const logOf = (session) => {
      const known = logs.get(session);
      if (known !== undefined) return known;
      const log = new Map();
      for (const event of Array.from(harness.events(session))) {
        if (SURFACE_TYPES.has(event.type)) log.set(event.seq, event);
      }
      logs.set(session, log);
      return log;
    };
    for (const session of ctx.sessions.list()) logOf(session);
    ctx.on('session/created', (session) => void logOf(session), { global: true });
    ctx.on(
      'session/event',
      (session, event) => {
        if (SURFACE_TYPES.has(event.type)) logOf(session).set(event.seq, event);
      },
      { global: true },
    );
    ctx.on(
      'internal/dispatch',
      (_mode, eventName, args) => {
        if (eventName !== 'session/event') return;
        const [session, event] = args;
        if (!SURFACE_TYPES.has(event.type) || event.surfaceOp === 'append') return;
        const log = logOf(session);
        const broken = judge(session, event, (seq) => log.get(seq));
        if (broken !== undefined)
          fail(`the ${event.type} that replaces surface nodes at seq ${event.seq}: ${broken}`);
      },
      { global: true },
    );
  },
  { inject: ['sessions'] },
);

/**
 * Registers the companion.
 *
 * @param {object} ctx - a context that carries the invariant registry.
 * @returns {Promise<unknown>} the registration's disposer, once it is installed.
 */
export const apply = (ctx) => Promise.resolve(ctx.invariants.register(PACKAGE_NAME, install));
