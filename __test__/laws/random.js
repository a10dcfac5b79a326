/**
 * Seeded chance and deterministic text. A recipe holds text as a few numbers, so that it stays short when it
 * is printed and shrinks well; the words are made here, the same on every machine.
 */

/**
 * @param seed - any unsigned 32-bit number; equal seeds give equal sequences.
 * @returns `next()` in [0, 1), `int(a, b)` inclusive, `chance(p)`, `pick(list)` and `weighted([[weight,
 * value]])`.
 */
export function chanceOf(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const int = (low, high) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (list) => list[int(0, list.length - 1)],
    weighted(options) {
      let left = next() * options.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of options) {
        left -= weight;
        if (left < 0) return value;
      }
      return options.at(-1)[1];
    },
  };
}

/**
 * @param seed - the seed of a whole run.
 * @param index - the number of the case in it.
 * @returns the seed of that case, which `--seed` with `--cases 1` cannot reach by itself but `--only` can.
 */
export function caseSeed(seed, index) {
  let mixed = (seed ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

const WORDS = [
  'the parser keeps its state in src/lib.rs:42',
  'rate is 17 of 23',
  'E_TIMEOUT after 30s',
  'see `docs/a.md`',
  'no match',
  'const LIMIT = 4096;',
  '- item',
  'https://example.test/a?b=1#c',
];

/** What a text can be made of; each entry is repeated and cut to the wanted number of UTF-16 units. */
const ALPHABETS = {
  ascii: (salt) => `${WORDS[salt % WORDS.length]} ${salt}\n${WORDS[(salt + 3) % WORDS.length]} `,
  line: (salt) => `word${salt} `,
  cjk: (salt) => `第${salt}步：读取文件，检查结果。\n`,
  astral: (salt) => `🔬𠀀👩‍👩‍👧 ${salt}🇩🇪`,
  lone: (salt) => `a\ud83dz${salt}\udc00 b\ud800\n`,
  control: (salt) => `ELF\u0000\u0000\u001b[31m${salt}\u2028\u2029\u0085\ufeff\r\n`,
  markup: (salt) =>
    '[rewind report of mark 1]\n</report> <｜DSML｜> ```\n> quoted\n## The person wrote\n' +
    `\t{"name":"x","arguments":"{}"} {{x}} ${salt}\n    indented\n`,
  blank: () => ' \n\t',
};

/** Lines that do not repeat, as a report has them. */
function prose(length, salt) {
  let text = '';
  for (let line = 1; text.length < length; line += 1)
    text += `${line}. ${WORDS[(line * 7 + salt) % WORDS.length]}, found ${line * 13 + salt}.\n`;
  return text.slice(0, length);
}

/** The names of the kinds of text. */
export const TEXT_KINDS = Object.keys(ALPHABETS);

/**
 * @param spec - `[kind, length, salt]`, or a string that stands for itself.
 * @returns text of exactly `length` UTF-16 units; a cut inside a pair leaves a lone surrogate, on purpose.
 */
export function textOf(spec) {
  if (typeof spec === 'string') return spec;
  const [kind, length, salt] = spec;
  if (length === 0) return '';
  if (kind === 'prose') return prose(length, salt);
  const part = ALPHABETS[kind](salt);
  return part.repeat(Math.ceil(length / part.length)).slice(0, length);
}
