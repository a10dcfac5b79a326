/**
 * The same pass in plain JavaScript, for the clock and as a second opinion: it reads the events where they
 * are, and nothing crosses a border. Written from docs/prune.md; English receipts, default configuration,
 * layer 1 with `keepMode: absolute`.
 */
import { native } from '../../plugin/native.js';

const { readOnly, write, evidence } = native.pruneDefaults();
const key = (name) => name.toLowerCase().replaceAll(/[_-]/g, '');
const READ_ONLY = new Set(readOnly.map(key));
const WRITE = new Set(write.map(key));
const NEVER_PRUNE = new Set(['write', 'notebookedit']);
const WORD = /[A-Za-z0-9_]{8,}/g;
const PARTS = /[\s"'`()[\]{}<>,;=|*]/;

const points = (text) => {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) at += 1;
    count += 1;
  }
  return count;
};
const oneLine = (text) =>
  text
    .split(/[\s\p{Cc}]+/u)
    .filter(Boolean)
    .join(' ');
const clip = (text, max) => {
  const all = [...text];
  return all.length <= max ? text : max === 0 ? '' : `${all.slice(0, max - 1).join('')}…`;
};
const isDistinctive = (word) => /[0-9_]/.test(word) || /[a-z][A-Z]/.test(word);

/** Results with their heads and calls, in surface order. */
function look(session) {
  const { events } = session;
  const nodes = session.surface.nodes.map((seq) => events[seq]);
  const results = [];
  const open = new Map();
  let steps = 0;
  for (const [place, event] of nodes.entries()) {
    if (event.type === 'assistant/message') {
      steps += 1;
      const calls = event.data.message.content.filter(({ type }) => type === 'tool-call');
      const head = { place, event, calls, step: steps };
      for (const call of calls) open.set(call.id, { head, call });
    } else if (event.type === 'tool/result') {
      const [block] = event.data.message.content;
      const { head, call } = open.get(block.toolCallId);
      open.delete(block.toolCallId);
      const text = block.content.map((one) => one.text).join('\n');
      results.push({
        place,
        seq: event.seq,
        block,
        text,
        chars: points(text),
        head,
        call,
        tool: key(call.name),
        isError: block.isError,
      });
    }
  }
  return { nodes, results };
}

function pathOf(args) {
  const path = args?.path ?? args?.file_path ?? args?.notebook_path;
  return typeof path === 'string' ? normal(path) || undefined : undefined;
}

function normal(path) {
  return path
    .trim()
    .replaceAll('\\', '/')
    .replaceAll(/\/+/g, '/')
    .replace(/^(\.\/)+/, '')
    .replace(/(.)\/$/, '$1');
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, sorted(value[name])]),
  );
}

/** The rules judge. */
function judge({ nodes, results }) {
  const facts = new Map();
  const ids = new Map();
  const paths = new Set();
  for (const event of nodes) {
    if (event.type !== 'assistant/message') continue;
    for (const call of event.data.message.content) {
      if (call.type !== 'tool-call') continue;
      let args;
      try {
        args = JSON.parse(call.arguments);
      } catch {
        args = undefined;
      }
      const canonical = args === undefined ? call.arguments.trim() : JSON.stringify(sorted(args));
      const same = `${key(call.name)}\0${canonical}`;
      if (!ids.has(same)) ids.set(same, ids.size);
      const path = pathOf(args);
      if (path) paths.add(path);
      facts.set(call, { identity: ids.get(same), path, args, succeeded: false });
    }
  }
  for (const { call, isError } of results) if (!isError) facts.get(call).succeeded = true;

  const words = new Map();
  const repeated = new Set();
  const written = new Set();
  const note = (word, speaker) => {
    const known = words.get(word);
    words.set(word, known === undefined || known === speaker ? speaker : -1);
  };
  const hear = (text, speaker) => {
    for (const raw of text.split(PARTS)) {
      const word = raw.replace(/[.:!?]+$/, '');
      if (word === '') continue;
      for (const one of [word, /^..[^:]*(?=:)/.exec(word)?.[0]]) {
        const path = one && normal(one);
        if (path && paths.has(path)) note(path, speaker);
      }
    }
    for (const word of text.match(WORD) ?? []) if (isDistinctive(word)) note(word, speaker);
  };
  const hearValue = (value, speaker) => {
    if (typeof value === 'string') {
      if (paths.has(normal(value))) note(normal(value), speaker);
      hear(value, speaker);
    } else if (typeof value === 'object' && value !== null)
      Object.values(value).forEach((one) => hearValue(one, speaker));
  };
  const said = (word, own) => words.has(word) && words.get(word) !== own;
  const verdicts = new Map();
  let steps = 0;
  let at = results.length - 1;
  for (let place = nodes.length - 1; place >= 0; place -= 1) {
    const event = nodes[place];
    if (event.type === 'tool/result') {
      const result = results[at];
      at -= 1;
      const { identity, path } = facts.get(result.call);
      const isReadOnly = READ_ONLY.has(result.tool);
      const reappears = () => {
        const found = new Set();
        for (const word of result.text.match(WORD) ?? []) {
          if (isDistinctive(word) && said(word, identity)) found.add(word);
          if (found.size >= 2) return true;
        }
        return false;
      };
      const need = repeated.has(identity)
        ? 0.05
        : isReadOnly && path !== undefined && written.has(path)
          ? 0.1
          : result.isError
            ? 0.9
            : (path !== undefined && said(path, identity)) || reappears()
              ? 0.8
              : steps <= 3
                ? 0.7
                : Math.max(0.15, 0.6 * 0.9 ** steps);
      verdicts.set(result.seq, { need, effect: isReadOnly ? 0.02 : WRITE.has(result.tool) ? 0.98 : 0.6 });
    } else if (event.type === 'assistant/message') {
      steps += 1;
      for (const block of event.data.message.content) {
        if (block.type === 'text') hear(block.text, -1);
        if (block.type !== 'tool-call') continue;
        const { identity, path, args, succeeded } = facts.get(block);
        if (args === undefined) hear(block.arguments, identity);
        else hearValue(args, identity);
        if (!succeeded) continue;
        repeated.add(identity);
        if (WRITE.has(key(block.name)) && path) written.add(path);
      }
    }
  }
  return verdicts;
}

/** Bodies to cut, as the text that would stand there. */
function trims({ nodes, results }, verdicts) {
  const cuts = [];
  for (const { place, seq, text, chars, tool } of results) {
    if (place > nodes.length - 1 - 4 || NEVER_PRUNE.has(tool) || chars < 400) continue;
    if (verdicts.get(seq).need >= 0.5) continue;
    const marker = `\n\n[… ${chars - 800} characters cut by prune; whole text at s${seq} …]\n\n`;
    if (chars - 800 - points(marker) < 40) continue;
    const all = [...text];
    cuts.push([seq, all.slice(0, 600).join('') + marker + all.slice(-200).join('')]);
  }
  return cuts;
}

const GUARD = new RegExp(evidence.map((word) => word.replace(' ', '[ _-]?')).join('|'), 'giu');

function holdsEvidence(text) {
  for (const { index } of text.matchAll(GUARD)) {
    const before = text[index - 1];
    const first = text[index];
    if (before === undefined || !/[A-Za-z0-9]/.test(before) || first > '\x7f') return true;
    if (/[A-Z]/.test(first) && (!/[A-Z]/.test(before) || /[a-z]/.test(text[index + 1] ?? ''))) return true;
  }
  return false;
}

const FIRST = ['command', 'file_path', 'notebook_path', 'pattern', 'query', 'path', 'url', 'glob'];
const SKIPPED = ['content', 'old_string', 'new_string', 'prompt', 'description'];

function shownArgs(text) {
  let args;
  try {
    args = JSON.parse(text);
  } catch {
    return clip(oneLine(text), 120);
  }
  const parts = [];
  const shown = (value) =>
    value === null ? '' : oneLine(typeof value === 'string' ? value : JSON.stringify(value));
  for (const name of FIRST) {
    const value = name in args ? shown(args[name]) : '';
    if (value !== '' && parts.length < 3) parts.push(parts.length === 0 ? value : `${name}=${value}`);
  }
  for (const name of Object.keys(args).toSorted()) {
    if (FIRST.includes(name) || SKIPPED.includes(name)) continue;
    const value = shown(args[name]);
    if (value !== '' && points(value) <= 40) parts.push(`${name}=${value}`);
  }
  return clip(parts.join(' '), 120);
}

function factOf({ seq, call, chars }) {
  const args = shownArgs(call.arguments);
  return `s${seq} ${oneLine(call.name)}${args === '' ? '' : `: ${args}`} → ${chars} chars`;
}

/** Receipts, as `[seqs, text]`. */
function receipts({ nodes, results }, verdicts) {
  const may = ({ tool }) => READ_ONLY.has(tool) && !WRITE.has(tool);
  const eligible = new Set(
    results
      .filter((one) => may(one) && verdicts.get(one.seq).need < 0.2 && verdicts.get(one.seq).effect < 0.2)
      .map(({ seq }) => seq),
  );
  const byHead = Map.groupBy(results, ({ head }) => head);
  const ranges = [];
  for (const [head, own] of byHead) {
    const contiguous =
      own.length === head.calls.length &&
      own.every(({ place }, at) => place === head.place + 1 + at) &&
      nodes[head.place + own.length + 1]?.type !== 'tool/result';
    if (!contiguous) continue;
    const said = head.event.data.message.content
      .filter(({ type }) => type === 'text')
      .map(({ text }) => text)
      .join('\n');
    if (points(said) > 1200) continue;
    const free = own.filter(
      (one) =>
        one.place < nodes.length - 1 &&
        may(one) &&
        !one.isError &&
        eligible.has(one.seq) &&
        !holdsEvidence(one.text),
    );
    if (free.length < own.length) {
      if (free.length > 0) ranges.push({ partial: free });
      continue;
    }
    const last = ranges.at(-1);
    if (last?.end === head.place) {
      last.parts.push({ head, said, own });
      last.end = head.place + own.length + 1;
    } else ranges.push({ parts: [{ head, said, own }], end: head.place + own.length + 1 });
  }
  return ranges.flatMap(({ parts, partial }) => {
    if (partial) {
      const bodies = partial.map((one) => [
        [one.seq],
        `[compacted · deterministic receipt] ${factOf(one)}. Original in the session log (seq ${one.seq}).`,
        one.chars,
      ]);
      const saved = bodies.reduce((sum, [, text, chars]) => sum + chars - points(text), 0);
      return saved >= 2000 ? bodies.map(([seqs, text]) => [seqs, text]) : [];
    }
    const seqs = parts.flatMap(({ head, own }) => [head.event.seq, ...own.map(({ seq }) => seq)]);
    const all = parts.flatMap(({ own }) => own);
    const chars = all.reduce((sum, one) => sum + one.chars, 0);
    const [start, end] = [seqs[0], seqs.at(-1)];
    const text = [
      `[compacted · deterministic receipt] The earlier history s${start}–s${end} was ` +
        `${all.length} tool call${all.length === 1 ? '' : 's'} (about ${chars} characters of output),`,
      'moved out to free context. What follows is a list of facts (tool names, arguments, character counts ' +
        "and seqs computed by code; the model's words quoted verbatim, nothing inferred):",
      ...parts.flatMap(({ head, said, own }) => [
        ...(oneLine(said) === ''
          ? []
          : [`· s${head.event.seq} the model's words (verbatim): ${clip(oneLine(said), 400)}`]),
        ...own.map((one) => `· ${factOf(one)}`),
      ]),
      `The original events stand whole in the session log (seqs ${start}–${end}). When the content is ` +
        'needed, run the same command or read the same file again; this receipt does not interpret it.',
    ].join('\n');
    return chars - points(text) >= 2000 ? [[seqs, text]] : [];
  });
}

/**
 * @param session - a session whose results nobody has rewritten.
 * @returns `{ cuts, receipts }`: bodies by seq, and receipts with the seqs they take.
 */
export function plainPass(session) {
  const seen = look(session);
  const verdicts = judge(seen);
  return { cuts: trims(seen, verdicts), receipts: receipts(seen, verdicts) };
}
