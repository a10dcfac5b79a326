/**
 * Reports as a careful person would write them: sentences around facts that the writer names one by one. The
 * facts are counted, for the share of them that is wrongly called unverified.
 */

/** A report being written. */
export class Prose {
  #lines = [];
  facts = 0;
  known = { path: [], number: [], hash: [], command: [], identifier: [], error: [], url: [] };

  #fact(kind, text) {
    this.facts += 1;
    this.known[kind].push(String(text));
  }

  /** @returns a path, in backticks. */
  path(text) {
    this.#fact('path', text);
    return `\`${text}\``;
  }

  command(text) {
    this.#fact('command', text);
    return `\`${text}\``;
  }

  identifier(text) {
    this.#fact('identifier', text);
    return `\`${text}\``;
  }

  /** @returns a number as the prose writes it; from ten thousand on with separators. */
  number(value) {
    if (value >= 100) this.#fact('number', value);
    return value >= 10_000 ? value.toLocaleString('en-US') : String(value);
  }

  hash(text) {
    this.#fact('hash', text);
    return text;
  }

  /** @returns an error in quotation marks. */
  error(text, zh) {
    this.#fact('error', text);
    return zh ? `“${text}”` : `"${text}"`;
  }

  url(text) {
    this.#fact('url', text);
    return text;
  }

  add(...lines) {
    this.#lines.push(...lines);
  }

  get text() {
    return this.#lines.join('\n');
  }
}

/** What a model writes that has lost interest. */
export const LAZY = {
  en: 'I looked into it and read the code around it.\nIt should be clear now what to do next.',
  zh: '已经看过相关代码。\n下一步应该清楚了。',
};

const flip = (chance, text, from, to) => {
  const places = [...text].flatMap((c, at) => (c >= from && c <= to ? [at] : []));
  if (places.length === 0) return undefined;
  const at = chance.pick(places);
  const span = to.charCodeAt(0) - from.charCodeAt(0) + 1;
  const shifted = ((text.charCodeAt(at) - from.charCodeAt(0) + chance.int(1, span - 1)) % span) + from.charCodeAt(0);
  return text.slice(0, at) + String.fromCharCode(shifted) + text.slice(at + 1);
};

/** One letter of the last part changed, one dropped, or one doubled. */
function oneOff(chance, text) {
  const from = text.lastIndexOf('/') + 1;
  const letters = [...text].flatMap((c, at) => (at >= from && /[a-z]/i.test(c) ? [at] : []));
  if (letters.length < 3) return undefined;
  const at = chance.pick(letters.slice(0, -1));
  const how = chance.int(0, 2);
  if (how === 0) return text.slice(0, at) + text.slice(at + 1);
  if (how === 1) return text.slice(0, at) + text[at] + text.slice(at);
  return text.slice(0, at) + (text[at] === 'x' ? 'k' : 'x') + text.slice(at + 1);
}

function wrongDirectory(chance, text) {
  const parts = text.split('/');
  if (parts.length < 3) return undefined;
  const at = chance.int(1, parts.length - 2);
  const other = ['lib', 'legacy', 'internal2', 'shared', 'vendor'].filter((name) => name !== parts[at]);
  return [...parts.slice(0, at), chance.pick(other), ...parts.slice(at + 1)].join('/');
}

const MUTATIONS = {
  path: [oneOff, wrongDirectory],
  number: [(chance, text) => flip(chance, text, '0', '9')],
  hash: [(chance, text) => flip(chance, text, '0', '9')],
  command: [oneOff, (chance, text) => `${text} --forec`],
  identifier: [oneOff],
  error: [oneOff],
  url: [oneOff, (chance, text) => `${text}/v2`],
};

/** What a model makes up from nothing, by kind. */
const FREE = {
  path: (chance) => `src/${chance.pick(['adapters', 'plumbing'])}/ghost_${chance.int(100, 999)}.ts`,
  number: (chance) => String(chance.int(100_000, 999_999)),
  hash: (chance) => `a${chance.int(100_000, 999_999)}f`,
  command: (chance) => `make ghost-${chance.int(100, 999)} --fast`,
  identifier: (chance) => `ghostHandler${chance.int(100, 999)}`,
  error: (chance) => `ghost channel ${chance.int(10, 99)} failed to open`,
  url: (chance) => `https://ghost.example/${chance.int(100, 999)}`,
};

const SENTENCES = {
  path: { en: (x) => `The same holds for \`${x}\`.`, zh: (x) => `\`${x}\` 也是如此。` },
  number: { en: (x) => `Altogether ${x} of them were counted.`, zh: (x) => `一共统计到 ${x} 个。` },
  hash: { en: (x) => `It goes back to commit ${x}.`, zh: (x) => `问题来自提交 ${x}。` },
  command: { en: (x) => `It was confirmed with \`${x}\`.`, zh: (x) => `已用 \`${x}\` 确认。` },
  identifier: { en: (x) => `The caller is \`${x}\`.`, zh: (x) => `调用方是 \`${x}\`。` },
  error: { en: (x) => `It ends with "${x}".`, zh: (x) => `最后报“${x}”。` },
  url: { en: (x) => `See ${x} for it.`, zh: (x) => `见 ${x} 的说明。` },
};

/** Errors must read as errors for a quotation of them to be a claim at all. */
const READS_AS_ERROR = /error|exception|failed|undefined|closed|cannot|错误|失败|无法/i;

/**
 * Makes up a few things: near misses of what the report knows, and pure inventions.
 *
 * @param chance - seeded chance.
 * @param prose - the ideal report.
 * @param isThere - whether a text is in what the model was sent; an invention must not be.
 * @param language - `en` or `zh`.
 * @returns `{ text, inventions }`: a report that holds them, and what they are, `{ kind, text, near }`.
 */
export function inventing(chance, prose, isThere, language) {
  const inventions = [];
  for (const [kind, mutations] of Object.entries(MUTATIONS)) {
    const near = prose.known[kind].flatMap((fact) => mutations.map((mutate) => mutate(chance, fact)))
      .filter((text) => text !== undefined && !isThere(text));
    const usable = kind === 'error' ? near.filter((text) => READS_AS_ERROR.test(text)) : near;
    if (usable.length > 0) inventions.push({ kind, text: chance.pick(usable), near: true });
    if (chance.chance(0.4)) {
      const text = FREE[kind](chance);
      if (!isThere(text)) inventions.push({ kind, text, near: false });
    }
  }
  const lines = inventions.map(({ kind, text }) => SENTENCES[kind][language](text));
  return { text: `${prose.text}\n${lines.join('\n')}`, inventions };
}
