/**
 * What must survive a fold, read from the messages before it, and whether it did. Nothing here is shared with
 * the package: its own reading of tools, exit codes and token ends, by regular expressions.
 *
 *   path      every argument of a call that names a file or directory
 *   command   the first line of every shell command, at most 200 characters, with its last outcome on one line
 *   error     the line that names the failure in every failed result
 *   person    every person's message, word for word
 */

const PATH_ARGUMENTS = ['file_path', 'path', 'filename', 'notebook_path'];

const wordsOf = (blocks) => blocks.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n');

/** Calls with their results, by occurrence. */
function pairs(messages) {
  const open = [];
  const found = [];
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type === 'tool-call') open.push(block);
      if (block.type !== 'tool-result') continue;
      const at = open.findIndex(({ id }) => id === block.toolCallId);
      if (at < 0) continue;
      const [call] = open.splice(at, 1);
      let args;
      try {
        args = JSON.parse(call.arguments);
      } catch {
        args = {};
      }
      found.push({ name: call.name.toLowerCase(), args: args ?? {}, isError: block.isError === true, output: wordsOf(block.content) });
    }
  }
  return found;
}

const flat = (text) => text.replace(/\s+/g, ' ').trim();

function exitOf({ output, isError }) {
  const found = /\[exit code: (\d+)\]\s*$/.exec(output) ?? /^Exit code (\d+)/.exec(output) ?? /Command exited with code (\d+)\s*$/.exec(output);
  if (found) return Number(found[1]);
  return isError ? undefined : 0;
}

function errorOf({ output }) {
  const lines = output.split('\n').map(flat).filter((line) => line !== '' && !/^\[exit code: |^Exit code \d+$|^Command exited|^\(no output\)$|^\[stderr\]$/.test(line));
  const named = lines.find((line) => /(error|exception)\b|ERR!|错误|失败|无法/i.test(line) && !/\b0 errors?\b/.test(line));
  return named ?? lines.at(-1);
}

/**
 * @param messages - the messages before the fold, from the mark on.
 * @returns the probes as `{ kind, text, exit? }`.
 */
export function probesOf(messages) {
  const probes = new Map();
  const add = (kind, text, more = {}) => probes.set(`${kind} ${text}`, { kind, text, ...more });
  for (const pair of pairs(messages)) {
    const { name, args } = pair;
    for (const key of PATH_ARGUMENTS) if (typeof args[key] === 'string' && args[key] !== '') add('path', args[key]);
    const shell = (name === 'bash' || name === 'pwsh') && typeof args.command === 'string';
    const exit = shell ? exitOf(pair) : undefined;
    if (shell) add('command', flat(args.command.trim().split('\n')[0]).slice(0, 200), { exit });
    if (pair.isError || exit > 0) {
      const line = errorOf(pair);
      if (line !== undefined) add('error', line.slice(0, 150));
    }
  }
  for (const { source, content } of messages) if (source?.kind === 'user') add('person', wordsOf(content));
  return [...probes.values()];
}

/** A text as a pattern that ends where tokens end. */
function bounded(text) {
  const body = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const open = /^[\w/.~-]/.test(text) ? '(?<![\\w/.~-])' : '';
  const close = /\w$/.test(text) ? '(?![\\w/-]|\\.\\w)' : '';
  return new RegExp(open + body + close);
}

/** All text of messages: what the next request carries. */
export function textOf(messages) {
  const parts = [];
  const walk = (blocks) => {
    for (const block of blocks) {
      if (typeof block.text === 'string') parts.push(block.text);
      if (block.type === 'tool-call') parts.push(block.arguments);
      if (Array.isArray(block.content)) walk(block.content);
    }
  };
  for (const { content } of messages) walk(content);
  return parts.join('\n');
}

const OUTCOME = { ok: /→ (ok|成功)/, failed: (exit) => new RegExp(`→ (exit|退出码) ${exit}(?!\\d)`), unknown: /→ / };

/**
 * @param probe - a probe.
 * @param carried - what the next request carries.
 * @returns whether it is there.
 */
export function survives({ kind, text, exit }, carried) {
  if (kind === 'person') return carried.replace(/^> ?/gm, '').includes(text.replace(/^> ?/gm, ''));
  if (kind === 'path') return bounded(text).test(carried);
  const lines = carried.split('\n').map(flat);
  if (kind === 'error') return lines.some((line) => bounded(flat(text)).test(line) || line.includes(flat(text)));
  const outcome = exit === undefined ? OUTCOME.unknown : exit === 0 ? OUTCOME.ok : OUTCOME.failed(exit);
  return lines.some((line) => line.includes(text) && outcome.test(line.slice(line.indexOf(text) + text.length)));
}

/** @returns the items of the line that lists what could not be verified, empty where there is none. */
export function flagged(carried) {
  const line = carried.split('\n').find((one) => /^(Unverified|未经证实)/.test(one));
  return line === undefined ? [] : line.replace(/^[^:：]*[:：]/, '').split(';').map((item) => item.trim());
}

/** @returns whether a text stands in another, bounded at token ends. */
export function stands(text, whole) {
  return bounded(text).test(whole) || bounded(flat(text)).test(flat(whole));
}

