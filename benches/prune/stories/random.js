/** Chance that is the same in every run. */

/**
 * @param seed - any text.
 * @returns a generator of numbers from 0 up to 1.
 */
export function chance(seed) {
  let state = 2166136261;
  for (const c of seed) state = Math.imul(state ^ c.codePointAt(0), 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** One item of a list. */
export function pick(next, list) {
  return list[Math.floor(next() * list.length)];
}

/** A whole number from `low` to `high`, both included. */
export function between(next, low, high) {
  return low + Math.floor(next() * (high - low + 1));
}
