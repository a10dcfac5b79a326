/** Config schemas that refuse typos and say which key is wrong. */
import Schema from '@deepseek-ai/schemastery';

/**
 * Makes an object schema strict. Schemastery lets unknown keys through, so that a typo in a loader row is
 * silent; and some of its messages do not show the refused value or name only one bound. The strict schema
 * reports every fault of a row at once, nested ones too, each naming the key, the value and what is expected; an
 * unknown key is answered with the nearest known one. It stays a schemastery object schema in every other
 * respect, so it serves as the `Config` export of a cordis plugin: a bad row fails the boot with these messages.
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
  /** All faults of a raw config, and the resolved config when there are none. */
  const examine = (raw) => {
    const given = raw ?? {};
    if (!isRecord(given)) return { faults: [`expected an object of settings but got ${show(given)}`] };
    const faults = recordFaults(schema.dict, given, [], retired);
    if (faults.length > 0) return { faults };
    const value = {};
    for (const [key, field] of Object.entries(schema.dict)) {
      const resolved = Schema.resolve(given[key], field, { path: [key] })[0];
      if (resolved !== undefined && resolved !== null) value[key] = resolved;
    }
    const refused = check?.(value);
    return refused === undefined ? { faults, value } : { faults: [refused] };
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

/** Faults of an object's keys, and of what they hold. */
function recordFaults(fields, given, path, retired = {}) {
  const known = Object.keys(fields);
  const unknown = Object.keys(given).filter((key) => !known.includes(key));
  return [
    ...unknown.map((key) => (Object.hasOwn(retired, key) ? `${key}: ${retired[key]}` : unknownKey(key, known, path))),
    ...known.flatMap((key) => valueFaults(fields[key], given[key], [...path, key])),
  ];
}

/** Faults of one value, wherever in the row it stands. */
function valueFaults(field, given, path) {
  const within = (inner, [key, value]) => valueFaults(inner, value, [...path, key]);
  if (field.type === 'array' && Array.isArray(given)) {
    return [...given.entries()].flatMap((entry) => within(field.inner, entry));
  }
  if (field.type === 'dict' && isRecord(given)) return Object.entries(given).flatMap((entry) => within(field.inner, entry));
  if (field.type === 'object' && isRecord(given)) return recordFaults(field.dict, given, path);
  if (field.type === 'number' && given !== undefined && given !== null) {
    const fault = numberFault(field.meta, given);
    return fault ? [`${pathText(path)} ${fault}`] : [];
  }
  try {
    Schema.resolve(given, field, { path });
    return [];
  } catch (error) {
    return [refusedValue(error, given)];
  }
}

/** What is wrong with a number, both bounds named; undefined where nothing is. */
function numberFault({ min, max, step }, given) {
  const whole = step === 1;
  const fits = Number.isFinite(given) && (!whole || Number.isInteger(given))
    && given >= (min ?? -Infinity) && given <= (max ?? Infinity);
  if (fits) return undefined;
  const bounds = [min > -Infinity && `from ${min}`, max < Infinity && `${min > -Infinity ? 'to' : 'up to'} ${max}`];
  const kind = whole ? 'a whole number' : 'a number';
  return `expected ${[kind, ...bounds].filter(Boolean).join(' ')} but got ${show(given)}`;
}

/** Schemastery's own words, which begin with the path; the value is added where they leave it out. */
function refusedValue(error, value) {
  const text = error.message.replace(/^\$\./, '');
  return value === undefined || text.includes(show(value)) ? text : `${text} (value ${show(value)})`;
}

/** A place in a row as a person writes it: `tools.read.act`, `list[2]`. */
function pathText(path) {
  return path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at > 0 ? '.' : ''}${part}`)).join('');
}

function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unknownKey(key, known, path) {
  const nearest = nearestOf(key, known);
  const hint = nearest === undefined ? '.' : `; did you mean ${nearest}?`;
  return `${pathText([...path, key])} is not a setting${hint} Known settings: ${known.join(', ')}.`;
}

/** A value as a person wrote it, short enough for one line. */
function show(value) {
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** The known key at the smallest edit distance, if a slip of the hand can lie between it and the given one. */
function nearestOf(key, known) {
  let best;
  let bestDistance = Infinity;
  for (const candidate of known) {
    const distance = editDistance(key.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  // Two letters of five may be wrong: enough for a slip of the hand, too little for another word.
  return bestDistance <= Math.max(key.length, best?.length ?? 0) * 0.4 ? best : undefined;
}

/** Edit distance, two letters that changed places counting once; one row at a time. */
function editDistance(a, b) {
  let above;
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const crossed = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? above[j - 2] + 1 : Infinity;
      next.push(Math.min(swap, crossed, row[j] + 1, next[j - 1] + 1));
    }
    [above, row] = [row, next];
  }
  return row[b.length];
}
