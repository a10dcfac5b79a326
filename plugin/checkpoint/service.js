/** `ctx.checkpoint`: the service over the marks of all sessions. */
import { cleanObjective } from './marks.js';

/**
 * Serves the marks. Methods return promises, as any provider's do: a provider may keep its marks in storage.
 * Each takes effect when it is called, not when it is awaited.
 */
export class CheckpointService {
  #sessions;
  #marks;
  /** Sessions that were marked but live in no store, by id. @type {Map<string, WeakRef<object>>} */
  #detached = new Map();

  /**
   * @param {{ get(id: string): object | undefined }} sessions - the session store.
   * @param {import('./marks.js').Marks} marks - the marks of every session.
   * @param {{ toolName: string, rewindToolName: string }} config - the row, for the names of the tools.
   */
  constructor(sessions, marks, { toolName, rewindToolName }) {
    this.#sessions = sessions;
    this.#marks = marks;
    /** What the tools are called: whoever speaks of them can see whether it means the same ones. */
    this.tools = Object.freeze({ checkpoint: toolName, rewind: rewindToolName });
  }

  /**
   * Takes a mark at the present end of a session's log. Called by code, outside the checkpoint tool, the mark
   * lives in memory only: nothing in the log carries it.
   *
   * @param {object} session - the session to mark.
   * @param {string} [objective] - what the exploration is for.
   * @returns {Promise<object>} the mark.
   * @throws {TypeError} when the session or the objective is not one.
   */
  async mark(session, objective) {
    if (typeof session?.id !== 'string' || session.surface === undefined) {
      throw new TypeError('checkpoint.mark needs a session of the harness');
    }
    if (objective !== undefined && typeof objective !== 'string') {
      throw new TypeError(`checkpoint.mark needs a string objective or none, got ${typeof objective}`);
    }
    if (this.#sessions.get(session.id) !== session) this.#detached.set(session.id, new WeakRef(session));
    return this.#marks.of(session).take(cleanObjective(objective));
  }

  /**
   * The mark that a rewind folds from: the most recent one, folded or not.
   *
   * @param {string} sessionId - the session asked about.
   * @returns {Promise<object | undefined>} the mark, or undefined when the session has none of its own.
   */
  async latestMark(sessionId) {
    return this.#find(sessionId)?.latest();
  }

  /**
   * Whether the session's most recent mark is still to be folded.
   *
   * @param {string} sessionId - the session asked about.
   * @returns {Promise<boolean>} true while a rewind is due.
   */
  async hasActive(sessionId) {
    return this.#find(sessionId)?.latest()?.foldedAt === null;
  }

  /**
   * Stamps a mark as folded. A report in the log has done so already; without one the stamp lives in memory.
   *
   * @param {string} sessionId - the mark's session.
   * @param {number} markId - the mark; an unknown one is ignored.
   * @returns {Promise<void>} the promise of the stamp.
   */
  async completeFold(sessionId, markId) {
    this.#find(sessionId)?.complete(markId);
  }

  /**
   * Sets an unfolded mark aside as if it had never been taken; the mark before it is the latest again. The
   * stamp itself lives in memory. It outlives a resume when a command whose arguments begin with `discard`
   * asked for it and answers the returned seq as its `sourceEventSeq`: the harness's own record of the
   * command is then the durable form.
   *
   * @param {string} sessionId - the mark's session.
   * @param {number} markId - the mark; an unknown or folded one is ignored.
   * @returns {Promise<number | undefined>} the seq of the event that carries the mark, undefined where no
   *   event does.
   */
  async discard(sessionId, markId) {
    return this.#find(sessionId)?.discard(markId);
  }

  #find(sessionId) {
    const session = this.#sessions.get(sessionId) ?? this.#detached.get(sessionId)?.deref();
    if (session !== undefined) return this.#marks.of(session);
    this.#detached.delete(sessionId);
    return undefined;
  }
}
