/** Small readings of what a fold knows. */

/** @returns the fields of an object that have a value. */
export function defined(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Adds up the usage of several attempts: what the report cost, not only what its last attempt cost. */
export function addUsage(total, usage) {
  if (!usage) return total;
  const sum = { ...total };
  for (const [key, value] of Object.entries(usage)) sum[key] = (sum[key] ?? 0) + value;
  return sum;
}

/** @returns whether a mark's own service says that it is folded. */
export function isStamped(mark) {
  return mark.foldedAt !== undefined && mark.foldedAt !== null;
}
