/**
 * What an engineer would write in an afternoon instead of `dsh-rewind audit`: `JSON.parse` a line, and the
 * same counts. It is told the path of a plain log and prints its counts and its time as JSON.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const ROWS = new Map([['text-chunks', 'texts'], ['reasoning-chunks', 'texts'], ['tool-call-chunks', 'args']]);

/** Every line of a file, read in pieces of a megabyte. */
function* linesOf(path) {
  const file = openSync(path, 'r');
  const piece = Buffer.allocUnsafe(1 << 20);
  let rest = Buffer.alloc(0);
  for (let count = readSync(file, piece); count > 0; count = readSync(file, piece)) {
    const bytes = Buffer.concat([rest, piece.subarray(0, count)]);
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      yield bytes.toString('utf8', from, end);
      from = end + 1;
    }
    rest = bytes.subarray(from);
  }
  closeSync(file);
}

const quarter = (length) => Math.ceil(length / 4);

function charsOf(blocks) {
  let chars = 0;
  for (const block of blocks) {
    if (block.type === 'text' || block.type === 'reasoning') chars += block.text.length;
    else if (block.type === 'tool-call') chars += block.arguments.length;
    else if (block.type === 'tool-result') chars += charsOf(block.content);
  }
  return chars;
}

function tokensOf(blocks) {
  let tokens = 0;
  for (const block of blocks) {
    if (block.type === 'text' || block.type === 'reasoning') tokens += quarter(block.text.length);
    else if (block.type === 'tool-call') tokens += quarter(block.name.length) + quarter(block.arguments.length);
    else if (block.type === 'tool-result') tokens += tokensOf(block.content);
    else tokens += quarter(JSON.stringify(block).length);
    tokens += 4;
  }
  return tokens;
}

/** Whether a provider would accept the surface. */
function accepted(surface, nodes) {
  const open = [];
  for (const seq of surface) {
    const { type, calls } = nodes.get(seq);
    if (type === 'tool/result') {
      const at = open.indexOf(calls[0]);
      if (at === -1) return false;
      open.splice(at, 1);
    } else {
      if (open.length > 0) return false;
      open.push(...calls);
    }
  }
  return open.length === 0;
}

function audit(path) {
  const counts = { lines: 0, events: 0, chunks: 0, turns: 0, requests: 0, refused: 0, replacements: 0, persons: 0 };
  const size = { nodes: 0, chars: 0, tokens: 0 };
  const nodes = new Map();
  const surface = [];
  let asking = false;
  let sound = true;
  let dirty = false;
  const open = [];
  const ask = () => {
    if (!asking) return;
    counts.requests += 1;
    if (dirty) {
      sound = accepted(surface, nodes);
      dirty = false;
    }
    if (!sound || open.length > 0) counts.refused += 1;
  };
  for (const line of linesOf(path)) {
    counts.lines += 1;
    const event = JSON.parse(line);
    const { type, data } = event;
    if (type === 'session') continue;
    const members = ROWS.get(type);
    if (members !== undefined || type === 'assistant/chunk') {
      const count = members === undefined ? 1 : data[members].length;
      counts.events += count;
      counts.chunks += count;
      ask();
      asking = false;
      continue;
    }
    counts.events += 1;
    if (type === 'turn/start') counts.turns += 1;
    if (type === 'step/start') asking = true;
    if (event.surfaceOp === undefined) continue;
    const message = type === 'user/message' ? data : data.message;
    const node = {
      type,
      chars: charsOf(message.content),
      tokens: tokensOf(message.content) + 4,
      person: message.source.kind === 'user',
      calls: [],
    };
    if (type === 'assistant/message') {
      node.calls = message.content.filter((block) => block.type === 'tool-call').map(({ id }) => id);
    } else if (type === 'tool/result') {
      node.calls = [message.content[0].toolCallId];
    }
    nodes.set(event.seq, node);
    size.nodes += 1;
    size.chars += node.chars;
    size.tokens += node.tokens;
    if (event.surfaceOp !== 'append') {
      counts.replacements += 1;
      const { start, end } = event.surfaceOp;
      const from = surface.lastIndexOf(start);
      const taken = surface.splice(from, surface.lastIndexOf(end) - from + 1, event.seq);
      for (const seq of taken) {
        const { chars, tokens, person } = nodes.get(seq);
        size.nodes -= 1;
        size.chars -= chars;
        size.tokens -= tokens;
        if (person) counts.persons += 1;
      }
      dirty = true;
      continue;
    }
    if (type === 'assistant/message') {
      ask();
      asking = true;
    }
    surface.push(event.seq);
    if (type === 'tool/result') {
      const at = open.indexOf(node.calls[0]);
      if (at === -1) sound = false;
      else open.splice(at, 1);
    } else {
      if (open.length > 0) sound = false;
      open.length = 0;
      open.push(...node.calls);
    }
  }
  return { ...counts, ...size };
}

const from = performance.now();
const counts = audit(process.argv[2]);
console.log(JSON.stringify({ ms: performance.now() - from, rss: process.resourceUsage().maxRSS * 1024, counts }));
