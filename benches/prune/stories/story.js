/**
 * A story becomes a session: each chapter is one step, and what the agent says of a result opens the next
 * one.
 *
 * Chapters: `['read', path, says]`, `['batch', paths, says]`, `['grep', pattern, says]`, `['edit', path,
 * says]`, `['write', path, sources, says]`, `['test', command, failing, says]`, `['log', path, marked,
 * says]`, `['page', url, says]`, `['person', text]`.
 *
 * In what is said, `@0` to `@9` are names that stand in the result just seen, from its start to its end, and
 * `@5 of PATH` one of a file that was read before.
 */
import { World } from './world.js';

/** Builds one session. */
class Telling {
  rows = [];
  #turn = 0;
  #step = 0;
  #calls = 0;
  #says = '';
  #edits = new Map();
  #rounds = new Map();

  constructor(world, paths) {
    this.world = world;
    this.paths = paths;
  }

  person(text) {
    if (this.#turn > 0) this.#close();
    this.#turn += 1;
    this.#step = 0;
    this.#row('turn/start', { turn: this.#turn });
    this.#row(
      'user/message',
      { id: `u${this.#turn}`, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } },
      'append',
    );
  }

  #close() {
    this.#assistant([]);
    this.#row('turn/end', { turn: this.#turn, reason: { kind: 'completed' } });
  }

  /** One step: the words that the last result left to say, and calls with what they give. */
  step(calls) {
    const made = calls.map(([name, args, text, isError = false]) => {
      this.#calls += 1;
      return { id: `call_${this.#calls}`, name, args: JSON.stringify(args), text, isError };
    });
    this.#assistant(made);
    for (const { id, name, args, text, isError } of made) {
      this.#row('tool/call', { turn: this.#turn, step: this.#step, callId: id, name, arguments: args });
      const block = { type: 'tool-result', toolCallId: id, isError, content: [{ type: 'text', text }] };
      const message = { id: `r${id}`, role: 'user', source: { kind: 'tool', callId: id }, content: [block] };
      this.#row('tool/result', { turn: this.#turn, step: this.#step, message }, 'append');
    }
  }

  #assistant(calls) {
    this.#step += 1;
    const content = [
      { type: 'text', text: this.#says || 'Let me look.' },
      ...calls.map(({ id, name, args }) => ({ type: 'tool-call', id, name, arguments: args })),
    ];
    this.#says = '';
    const message = {
      id: `a${this.#turn}-${this.#step}`,
      role: 'assistant',
      content,
      source: { kind: 'model', provider: 'p', model: 'm' },
    };
    this.#row('assistant/message', { turn: this.#turn, step: this.#step, message }, 'append');
  }

  #row(type, data, surfaceOp) {
    this.rows.push({ type, seq: this.rows.length, time: 0, data, ...(surfaceOp && { surfaceOp }) });
  }

  /** Remembers what will be said, with the names filled in. */
  says(text, names = []) {
    const older = text.replace(/@(\d) of (\S+\.\w+)/g, (_, at, path) =>
      nameAt(this.world.namesIn(path), Number(at)),
    );
    this.#says = older.replace(/@(\d)/g, (_, at) => nameAt(names, Number(at)));
  }

  read(path, says) {
    this.step([['read', { path }, this.world.file(path, this.#edits.get(path))]]);
    this.says(says, this.world.namesIn(path));
  }

  batch(paths, says) {
    this.step(paths.map((path) => ['read', { path }, this.world.file(path, this.#edits.get(path))]));
    this.says(
      says,
      paths.flatMap((path) => this.world.namesIn(path)),
    );
  }

  grep(pattern, says) {
    const text = this.world.search(pattern, this.paths);
    this.step([['grep', { pattern, path: 'src' }, text]]);
    this.says(says, [...new Set(text.match(/\w{10,}/g))]);
  }

  edit(path, says) {
    const edits = (this.#edits.get(path) ?? 0) + 1;
    const old = this.world.excerpt(path, 3 * edits + 2);
    this.step([
      ['edit', { path, old_string: old, new_string: old.replace('limit', 'bound') }, `Edited ${path}.`],
    ]);
    this.#edits.set(path, edits);
    this.says(says, this.world.namesIn(path));
  }

  write(path, sources, says) {
    const content = this.world.test(
      sources.map((source) => [source, [2, 5, 8].map((at) => nameAt(this.world.namesIn(source), at))]),
    );
    this.step([['write', { path, content }, `Wrote ${path}.`]]);
    this.says(says);
  }

  test(command, failing, says) {
    const round = (this.#rounds.get(command) ?? 0) + 1;
    this.#rounds.set(command, round);
    this.step([['bash', { command }, this.world.tests(command, round, failing)]]);
    this.says(says, failing);
  }

  log(path, marked, says) {
    this.step([['read', { path }, this.world.log(path, marked)]]);
    this.says(says);
  }

  page(url, says) {
    const text = this.world.page(url);
    this.step([['web_fetch', { url }, text]]);
    this.says(
      says,
      [...new Set(text.match(/^## (\w+)/gm))].map((line) => line.slice(3)),
    );
  }

  end() {
    this.#close();
    return this.rows;
  }
}

function nameAt(names, at) {
  return names[Math.min(names.length - 1, Math.floor((names.length * at) / 10))] ?? 'that';
}

/**
 * @param story - `{ name, trade, chapters }`.
 * @returns the session's events, as a log holds them.
 */
export function tell({ name, trade, chapters }) {
  const world = new World(name, trade);
  const paths = [
    ...new Set(chapters.flatMap(([kind, what]) => (kind === 'read' ? [what] : kind === 'batch' ? what : []))),
  ];
  const telling = new Telling(world, paths);
  for (const [kind, ...rest] of chapters) telling[kind](...rest);
  return telling.end();
}
