/** Config schemas that refuse typos and say which key is wrong. */
import Schema from '@deepseek-ai/schemastery';

/**
 * Makes an object schema strict. Schemastery lets unknown keys through, so that a typo in a loader row is
 * silent; and some of its messages do not show the refused value. The strict schema reports every fault of a
 * row at once, each naming the key, the value and what is expected; an unknown key is answered with the
 * nearest known one. It stays a schemastery object schema in every other respect, so it serves as the
 * `Config` export of a cordis plugin: a bad row fails the boot with these messages.
 *
 * @param {Schema} schema - an object schema; its fields carry the defaults and ranges.
 * @param {string} label - what the row configures, in front of every message.
 * @param {(config: object) => string | undefined} [check] - a rule over several fields, asked only when
 *   each field is valid by itself; a sentence refuses the config.
 * @param {Record<string, string>} [retired] - keys of other programs or earlier versions that people bring
 *   along, each with a sentence that says what took its place.
 * @returns {Schema} the strict schema, callable and usable as a cordis `Config`.
 */
export function strict(schema, label, check, retired = {}) {
  const known = Object.keys(schema.dict);

  /** All faults of a raw config, and the resolved config when there are none. */
  const examine = (raw) => {
    const given = raw ?? {};
    if (typeof given !== 'object' || Array.isArray(given)) {
      return { faults: [`expected an object of settings but got ${show(given)}`] };
    }
    const faults = Object.keys(given)
      .filter((key) => !known.includes(key))
      .map((key) => (Object.hasOwn(retired, key) ? `${key}: ${retired[key]}` : unknownKey(key, known)));
    const value = {};
    for (const key of known) {
      try {
        const field = Schema.resolve(given[key], schema.dict[key], { path: [key] })[0];
        if (typeof field === 'number' && !Number.isFinite(field)) {
          throw new TypeError(`${key} expected a finite number but got ${field}`);
        }
        if (field !== undefined && field !== null) value[key] = field;
      } catch (error) {
        faults.push(refusedValue(error, given[key]));
      }
    }
    const refused = faults.length === 0 ? check?.(value) : undefined;
    if (refused !== undefined) faults.push(refused);
    return { faults, value };
  };

  const message = (fault) => `${label}: ${fault}`;
  const standard = {
    version: 1,
    vendor: 'schemastery',
    validate(raw) {
      const { faults, value } = examine(raw);
      if (faults.length === 0) return { value };
      return { issues: faults.map((fault) => ({ message: message(fault) })) };
    },
  };
  return new Proxy(schema, {
    get: (target, property, receiver) =>
      (property === '~standard' ? standard : Reflect.get(target, property, receiver)),
    apply(_target, _self, [raw]) {
      const { faults, value } = examine(raw);
      if (faults.length > 0) throw new TypeError(faults.map(message).join('\n'));
      return value;
    },
  });
}

/** Schemastery's own words, which begin with the path; the value is added where they leave it out. */
function refusedValue(error, value) {
  const text = error.message.replace(/^\$\./, '');
  return value === undefined || text.includes(show(value))
    ? text
    : `${text} (value ${show(value)})`;
}

function unknownKey(key, known) {
  const nearest = nearestOf(key, known);
  const hint = nearest === undefined ? '.' : `; did you mean ${nearest}?`;
  return `${key} is not a setting${hint} Known settings: ${known.join(', ')}.`;
}

/** A value as a person wrote it, short enough for one line. */
function show(value) {
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** The known key at the smallest edit distance, unless it shares too little with the given one. */
function nearestOf(key, known) {
  let best;
  let bestDistance = Infinity;
  for (const candidate of known) {
    const distance = editDistance(key.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return bestDistance < Math.max(key.length, best?.length ?? 0) ? best : undefined;
}

/** Levenshtein distance, one row at a time. */
function editDistance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[b.length];
}
