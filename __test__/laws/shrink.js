/** Makes a failing recipe small: delta debugging over its operations, then over the text in them. */

function* simpler(op) {
  const [name, ...rest] = op;
  for (const [index, part] of rest.entries()) {
    const put = (value) => [name, ...rest.with(index, value)];
    if (Array.isArray(part) && typeof part[0] === 'string' && part[1] > 40) yield put(['line', 40, 1]);
    if (part === null || typeof part !== 'object' || Array.isArray(part)) continue;
    for (const [key, value] of Object.entries(part)) {
      if (Array.isArray(value) && Array.isArray(value[0])) {
        for (const at of value.keys()) yield put({ ...part, [key]: value.toSpliced(at, 1) });
      } else if (Array.isArray(value) && value[1] > 40) yield put({ ...part, [key]: ['line', 40, 1] });
    }
  }
}

/**
 * @param ops - a recipe that fails.
 * @param fails - an async predicate: does this recipe still fail?
 * @param budget - how many recipes may be tried.
 * @returns a promise of a recipe that still fails and from which little can be left out.
 */
export async function shrink(ops, fails, budget = 400) {
  let best = ops;
  let left = budget;
  const better = async (candidate) => {
    if (left <= 0) return false;
    left -= 1;
    if (!(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (
    let size = Math.ceil(best.length / 2);
    size >= 1 && left > 0;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < best.length;) {
      const candidate = best.toSpliced(at, size);
      if (candidate.length === best.length || !(await better(candidate))) at += size;
    }
  }
  for (let at = 0; at < best.length && left > 0; at += 1) {
    let improved = true;
    while (improved && left > 0) {
      improved = false;
      for (const op of simpler(best[at])) {
        if (await better(best.with(at, op))) {
          improved = true;
          break;
        }
      }
    }
  }
  return best;
}
