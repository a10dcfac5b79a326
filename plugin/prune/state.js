/**
 * What the plugin remembers of a session: verdicts, the goal they were made for, and what it did. All of it
 * is in memory and goes with the session; after a restart results are judged again (docs/prune.md 3.7).
 */
import { createHash } from 'node:crypto';
import { harness } from '../host/compat.js';
import { isReplacement } from '../host/events.js';

/** Who holds a session's lock while it is pruned, for the message of whoever is refused. */
export const OWNER = 'prune';

/** So many of a person's messages are the goal. */
const GOAL_MESSAGES = 3;

/** Counts of one session, as the heartbeat and `/prune status` show them. */
const COUNTERS = {
  passes: 0,
  judged: 0,
  cutByVerdict: 0,
  cutByVolume: 0,
  receipts: 0,
  partialReceipts: 0,
  charsFreed: 0,
  errors: 0,
};

/** @type {WeakMap<object, ReturnType<typeof fresh>>} */
const states = new WeakMap();

function fresh() {
  return {
    goal: { version: '', texts: [] },
    verdicts: new Verdicts(),
    /** The judge of the last pass, so that the hook knows whether verdicts are free. */
    judge: undefined,
    window: undefined,
    /** Pre-steps since the last pass. */
    steps: Infinity,
    /** A person asked for a pass, whatever the pressure says. */
    forced: false,
    /** A pass is under way that a person asked for. */
    forcing: false,
    /** The provider refused the request for its length, so protection yields. */
    overflow: false,
    counters: { ...COUNTERS },
    /** The last pass, as the heartbeat shows it. */
    last: {},
  };
}

/**
 * @param session - a session of the harness.
 * @returns what is remembered of it.
 */
export function stateOf(session) {
  let state = states.get(session);
  if (state === undefined) {
    state = fresh();
    states.set(session, state);
  }
  return state;
}

/**
 * The goal: a person's last messages, from what was appended and from what is about to be. Replacements never
 * change it.
 *
 * @param session - the session.
 * @param pending - messages that a step has claimed but not logged yet.
 * @returns `{ version, texts }`: a fingerprint, and the texts, oldest first.
 */
export function goalOf(session, pending = []) {
  const texts = pending.filter(({ source }) => source?.kind === 'user').map(({ content }) => textOf(content));
  const events = harness.events(session);
  for (let at = events.length - 1; at >= 0 && texts.length < GOAL_MESSAGES; at -= 1) {
    const event = events[at];
    if (event.type !== 'user/message' || event.data.source?.kind !== 'user' || isReplacement(event)) continue;
    texts.unshift(textOf(event.data.content));
  }
  const last = texts.slice(-GOAL_MESSAGES);
  return { version: createHash('sha256').update(JSON.stringify(last)).digest('hex'), texts: last };
}

function textOf(content) {
  return content
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .join('\n');
}

/**
 * Verdicts by the seq they were asked for. A rewritten result inherits those of the body it replaced; a need
 * counts only for the goal it was judged by, an effect always.
 */
class Verdicts {
  /** @type {Map<number, { need?: number, goal?: string, effect?: number }>} */
  #bySeq = new Map();

  /**
   * @param events - a log snapshot.
   * @param seq - a result on the surface.
   * @param goal - the goal's version; undefined where no need counts.
   * @returns `{ need, effect }`, each undefined where nobody judged it.
   */
  of(events, seq, goal) {
    let need;
    let effect;
    for (let event = events[seq]; event !== undefined; event = replacedBy(events, event)) {
      const known = this.#bySeq.get(event.seq);
      if (goal !== undefined && known?.goal === goal) need ??= known.need;
      effect ??= known?.effect;
    }
    return { need, effect };
  }

  /** Stores one axis of a result; a need belongs to the goal it was judged by. */
  put(seq, axis, value, goal) {
    const known = this.#bySeq.get(seq) ?? {};
    this.#bySeq.set(seq, axis === 'need' ? { ...known, need: value, goal } : { ...known, effect: value });
  }

  /**
   * @param events - a log snapshot.
   * @param seqs - the results of the surface.
   * @param goal - the goal's version.
   * @returns the verdicts as columns for the core, NaN where there is none.
   */
  columns(events, seqs, goal) {
    const need = new Float64Array(seqs.length).fill(NaN);
    const effect = new Float64Array(seqs.length).fill(NaN);
    seqs.forEach((seq, at) => {
      const known = this.of(events, seq, goal);
      if (known.need !== undefined) need[at] = known.need;
      if (known.effect !== undefined) effect[at] = known.effect;
    });
    return { seqs: Uint32Array.from(seqs), need, effect };
  }
}

function replacedBy(events, { surfaceOp }) {
  return surfaceOp?.op === 'replace' ? events[surfaceOp.start ?? surfaceOp.startSeq] : undefined;
}
