/**
 * What the tools of a story show: source files, searches, test runs, logs and pages, in the words of its
 * trade.
 */
import { between, chance, pick } from './random.js';

/** Files, runs and pages have from so many to so many characters. */
const SHORTEST = 8_400;
const LONGEST = 14_500;

const capital = (word) => word[0].toUpperCase() + word.slice(1);
const snake = (name) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);

/** The world of one story; no name stands for two things in it. */
export class World {
  #files = new Map();
  #taken = new Set();

  /**
   * @param name - the story's name.
   * @param trade - `{ flavour, verbs, nouns, plain }`: `ts` or `py`, words for names, and sentences for
   *   prose.
   */
  constructor(name, { flavour, verbs, nouns, plain }) {
    Object.assign(this, { name, flavour, verbs, nouns, plain });
  }

  /** The names that stand in a file, in the order in which they stand there. */
  namesIn(path) {
    return this.#file(path).names;
  }

  /** A file as it stands after `edits` edits. */
  file(path, edits = 0) {
    const { text } = this.#file(path);
    return edits === 0 ? text : `${text}${this.#comment(`Revised ${edits} time${edits > 1 ? 's' : ''}.`)}\n`;
  }

  /** One function of a file, as an edit quotes it. */
  excerpt(path, at) {
    const { blocks } = this.#file(path);
    return blocks[at % blocks.length];
  }

  #file(path) {
    if (!this.#files.has(path)) this.#files.set(path, this.#write(path));
    return this.#files.get(path);
  }

  #write(path) {
    const next = chance(`${this.name} ${path}`);
    const size = between(next, SHORTEST, LONGEST);
    const names = [];
    const blocks = [];
    let text = `${this.#comment(`${path}: ${pick(next, this.plain)}`)}\n\n`;
    while (text.length < size) {
      const name = this.#name(next);
      names.push(name);
      blocks.push(this.#function(next, name, names));
      text += `${blocks.at(-1)}\n`;
    }
    return { text, names, blocks };
  }

  #name(next) {
    for (;;) {
      const words = [pick(next, this.verbs), pick(next, this.nouns), pick(next, this.nouns)];
      const name = this.flavour === 'py' ? words.join('_') : words[0] + capital(words[1]) + capital(words[2]);
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      return name;
    }
  }

  #comment(text) {
    return this.flavour === 'py' ? `# ${text}` : `// ${text}`;
  }

  #function(next, name, names) {
    const [a, b, c] = [pick(next, this.nouns), pick(next, this.nouns), pick(next, this.nouns)];
    const limit = `${snake(name)}_limit`;
    const other = names.length > 1 ? names[Math.floor(next() * (names.length - 1))] : name;
    const said = [pick(next, this.plain), pick(next, this.plain)];
    if (this.flavour === 'py') {
      return [
        `def ${name}(${a}, ${b}, *, ${limit}=${between(next, 2, 90)}):`,
        `    """${said[0]}`,
        '',
        `    ${said[1]}`,
        '    """',
        `    ${c}_rows = [row for row in ${a} if row.${b} is not None]`,
        `    if len(${c}_rows) > ${limit}:`,
        `        ${c}_rows = ${c}_rows[-${limit}:]`,
        `    for row in ${c}_rows:`,
        `        row.${c} = ${b}.get(row.${b}, row.${c})`,
        `    return ${other}(${c}_rows, ${b})`,
        '',
      ].join('\n');
    }
    return [
      `/** ${said[0]}`,
      ` *  ${said[1]} */`,
      `export function ${name}(${a}: ${capital(a)}, ${b}: ${capital(b)}[], ` +
        `limit = ${limit.toUpperCase()}): ${capital(c)} {`,
      `  const ${c}List = ${b}.filter((one) => one.${a} !== undefined);`,
      `  if (${c}List.length > limit) ${c}List.splice(0, ${c}List.length - limit);`,
      `  for (const one of ${c}List) {`,
      `    one.${c} = ${a}.${b} ?? one.${c};`,
      '  }',
      `  return ${other}(${a}, ${c}List, limit);`,
      '}',
      '',
    ].join('\n');
  }

  /** A new test of some names, as an agent writes one. */
  test(sources) {
    const imports = sources.map(([path, names]) =>
      this.flavour === 'py'
        ? `from ${path.replace(/\.py$/, '').replaceAll('/', '.')} import ${names.join(', ')}`
        : `import { ${names.join(', ')} } from '../../${path}';`,
    );
    const calls = sources
      .flatMap(([, names]) => names)
      .map((name) =>
        this.flavour === 'py'
          ? `def test_${name}():\n    assert ${name}([], {}) == []\n`
          : `test('${name}', () => {\n  expect(${name}([], [])).toEqual([]);\n});\n`,
      );
    return [...imports, '', ...calls].join('\n');
  }

  /** A search over some files: lines of theirs that name one word. */
  search(pattern, paths) {
    const next = chance(`${this.name} grep ${pattern}`);
    const size = between(next, SHORTEST, LONGEST - 3_000);
    const lines = [];
    for (let length = 0; length < size;) {
      const path = pick(next, paths);
      const all = this.file(path)
        .split('\n')
        .filter((line) => line.trim().length > 20);
      const line = `${path}:${between(next, 1, 400)}: ${pick(next, all).trim()}`;
      lines.push(line);
      length += line.length + 1;
    }
    return lines.toSorted().join('\n');
  }

  /** A test run; `failing` names what fails in it. */
  tests(command, round, failing) {
    const next = chance(`${this.name} ${command} ${round}`);
    const size = between(next, SHORTEST, LONGEST - 2_000);
    const lines = [`> ${command}`, ''];
    for (let length = 0; length < size;) {
      const line =
        `ok ${lines.length} - ${pick(next, this.verbs)}s the ${pick(next, this.nouns)} ` +
        `${pick(next, this.nouns)} (${between(next, 1, 900)} ms)`;
      lines.push(line);
      length += line.length + 1;
    }
    for (const name of failing) {
      lines.splice(
        between(next, 4, lines.length - 2),
        0,
        `not ok - ${name}`,
        `  AssertionError: ${name} gave the wrong ${pick(next, this.nouns)}`,
      );
    }
    lines.push('', `# pass ${lines.length - 2}`, `# fail ${failing.length}`);
    return lines.join('\n');
  }

  /** A log of a service; `marked` is a line that stands somewhere in it. */
  log(path, marked) {
    const next = chance(`${this.name} ${path}`);
    const size = between(next, SHORTEST, LONGEST);
    const lines = [];
    for (let length = 0; length < size;) {
      const minute = String(Math.floor(lines.length / 6) % 60).padStart(2, '0');
      const id = `req_${Math.floor(next() * 2 ** 40).toString(36)}`;
      const line =
        `02:${minute}:${String(between(next, 10, 59))} info ${id} ${pick(next, this.verbs)} ` +
        `${pick(next, this.nouns)} ${pick(next, this.nouns)} in ${between(next, 1, 400)} ms`;
      lines.push(line);
      length += line.length + 1;
    }
    if (marked) lines.splice(Math.floor(lines.length * 0.6), 0, marked);
    return lines.join('\n');
  }

  /** A page of documentation. */
  page(url) {
    const next = chance(`${this.name} ${url}`);
    const size = between(next, SHORTEST, LONGEST);
    const parts = [`# ${url}`, ''];
    for (let length = 0; length < size;) {
      const part =
        `## ${this.#name(next)}\n\n${pick(next, this.plain)} ${pick(next, this.plain)} ` +
        `${pick(next, this.plain)}\n\nSee also ${pick(next, this.nouns)} and ${pick(next, this.nouns)}.\n`;
      parts.push(part);
      length += part.length + 1;
    }
    return parts.join('\n');
  }
}
