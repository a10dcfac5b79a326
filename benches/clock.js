/** Clocks and medians for measurements on machines that are shared. */

/**
 * @param work - what is timed.
 * @returns its milliseconds, and its value.
 */
export function time(work) {
  const from = performance.now();
  const value = work();
  return { ms: performance.now() - from, value };
}

/** @returns the middle value. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1];
}
