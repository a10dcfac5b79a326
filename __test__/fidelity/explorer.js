/**
 * Writes an exploration down step by step, with results as the harness's own tools render them. It knows
 * nothing of reports: probes read the finished session, not this.
 */
import { codeLines } from './languages.js';

const listing = (path, lines, from, total) => `<path>${path}</path>\n<type>file</type>\n<content>\n`
  + `${lines.map((line, index) => `${from + index}: ${line}`).join('\n')}\n\n(Showing lines ${from}-${from + lines.length - 1} of `
  + `${total}. Use offset=${from + lines.length} to continue.)\n</content>`;

/** An exploration under way. */
export class Explorer {
  steps = [];
  /** Files that were read around, and the first line that was shown of each. */
  seen = [];
  lines = new Map();

  /**
   * @param chance - seeded chance.
   * @param project - the project it looks at.
   * @param options - `size`: about how many lines a read shows; `sharedIds`: whether every call has the same
   * id, as some providers do it.
   */
  constructor(chance, project, { size, sharedIds }) {
    Object.assign(this, { chance, project, size, sharedIds });
    this.made = 0;
  }

  call(name, args) {
    this.made += 1;
    return { id: this.sharedIds ? 'call_0' : `call_${this.made}`, name, args };
  }

  /** One assistant message that calls, and what came back; `person` speaks before the last answer. */
  step(calls, { text, reasoning, person } = {}) {
    this.steps.push({ text, reasoning, person, calls: calls.map(({ id, name, args }) => ({ id, name, args })),
      results: calls.map(({ output, isError = false }) => ({ text: output, isError })) });
  }

  /** A `read` call with `lines` somewhere in what it shows. */
  read(path, lines = [], from = this.chance.chance(0.5) ? 1 : this.chance.int(100, 900)) {
    this.lines.set(path, from);
    const filler = codeLines(this.chance, this.project.language, this.size + this.chance.int(0, this.size));
    const at = this.chance.int(0, filler.length);
    const shown = [...filler.slice(0, at), ...lines, ...filler.slice(at)];
    const args = from > 1 ? { file_path: path, offset: from, limit: shown.length } : { file_path: path };
    return { ...this.call('read', args), output: listing(path, shown, from, from + shown.length + this.chance.int(0, 300)) };
  }

  /** @returns a line number that a read of the file has shown. */
  lineIn(path) {
    return this.lines.get(path) + this.chance.int(0, this.size - 1);
  }

  readFails(path) {
    return { ...this.call('read', { file_path: path }), output: `Error: cannot read "${path}": not found`, isError: true };
  }

  grep(pattern, path, hits) {
    const found = hits.length === 0 ? 'No matches found'
      : `Found ${hits.length} ${hits.length === 1 ? 'match' : 'matches'}\n\n`
        + hits.map(({ file, line, text }) => `${file}\n  ${line}: ${text}`).join('\n\n');
    return { ...this.call('grep', { pattern, path }), output: found };
  }

  glob(pattern, path, files) {
    return { ...this.call('glob', { pattern, path }), output: files.length === 0 ? 'No files found' : files.join('\n') };
  }

  bash(command, output, exit = 0) {
    const body = output === '' ? '(no output)' : output;
    return { ...this.call('bash', { command, description: 'Run it' }), output: exit === 0 ? body : `${body}\n[exit code: ${exit}]` };
  }

  edit(path, before, after) {
    return { ...this.call('edit', { file_path: path, old_string: before, new_string: after }),
      output: `<path>${path}</path>\n<type>file</type>\n<content>\nEdited file\n</content>` };
  }

  write(path, content) {
    return { ...this.call('write', { file_path: path, content }),
      output: `<path>${path}</path>\n<type>file</type>\n<content>\nCreated file\n</content>` };
  }

  fetch(url, body) {
    return { ...this.call('web_fetch', { url }), output: `URL: ${url}\nStatus: 200\n\n${body}` };
  }

  search(query, sources) {
    const lines = sources.map(({ url, title }) => `- [${title}](${url})`).join('\n');
    return { ...this.call('web_search', { queries: [query] }), output: sources.length === 0 ? 'No results found.' : `Sources:\n${lines}` };
  }

  other(name, args, output) {
    return { ...this.call(name, args), output };
  }
}
