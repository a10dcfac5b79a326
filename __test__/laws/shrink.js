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

/** The search: the smallest recipe so far, and how many more may be tried. */
class Search {
  constructor(ops, fails, budget) {
    this.best = ops;
    this.fails = fails;
    this.left = budget;
  }

  /** Tries a recipe; it is kept when it still fails. */
  async try(candidate) {
    if (this.left <= 0) return false;
    this.left -= 1;
    if (!(await this.fails(candidate))) return false;
    this.best = candidate;
    return true;
  }

  /** Leaves out runs of `size` operations wherever that keeps the failure. */
  async leaveOut(size) {
    let at = 0;
    while (at < this.best.length) {
      if (!(await this.try(this.best.toSpliced(at, size)))) at += size;
    }
  }

  /** Makes one operation as plain as it can be. */
  async simplify(at) {
    for (const op of simpler(this.best[at])) {
      if (await this.try(this.best.with(at, op))) {
        await this.simplify(at);
        return;
      }
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
  const search = new Search(ops, fails, budget);
  for (let size = Math.ceil(ops.length / 2); size > 1; size = Math.ceil(size / 2))
    await search.leaveOut(size);
  await search.leaveOut(1);
  for (let at = 0; at < search.best.length; at += 1) await search.simplify(at);
  return search.best;
}
