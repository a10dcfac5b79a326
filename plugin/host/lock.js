/**
 * One writer a session. Every part of the package that rewrites a surface takes this lock, so a fold, a
 * prune pass and a turn checkpoint never interleave their appends (docs/rewind.md 3.7).
 */

const KEY = Symbol.for('@dpskh/tool-rewind/lock');

/**
 * The table lives on `globalThis`: a hot-reloaded copy of this module must see the lock that an operation
 * of the old copy still holds. Keys are session objects, held weakly, so a dropped session leaves nothing.
 *
 * @type {WeakMap<object, { owner: string }>}
 */
const held = (globalThis[KEY] ??= new WeakMap());

/**
 * Takes the session's lock without waiting. The release works once and frees only its own hold, so a late
 * second call cannot free the lock of the next writer.
 *
 * @param {object} session - the session whose surface will be rewritten.
 * @param {string} owner - who takes it, for the message of whoever is refused.
 * @returns {(() => void) | undefined} the release function, or undefined while another writer holds it.
 */
export function acquire(session, owner) {
  if (held.has(session)) return undefined;
  const hold = { owner };
  held.set(session, hold);
  return () => {
    if (held.get(session) === hold) held.delete(session);
  };
}

/**
 * Names the writer that holds a session.
 *
 * @param {object} session - the session asked about.
 * @returns {string | undefined} the owner given to {@link acquire}, or undefined when the lock is free.
 */
export function holder(session) {
  return held.get(session)?.owner;
}
