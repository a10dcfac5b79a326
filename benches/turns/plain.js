/**
 * The work of segmenting and rendering in plain JavaScript, written as one would write it without a core: the
 * measure for the native one. It does the same job: the turn table, the span of the turn that just ended, its
 * segments with the same caps and the same id base, what is left to write, and the shortest text that could land.
 */
const KINDS = 'user-steer|assistant|working';
const TAG = new RegExp(`^</?(?:${KINDS}):(\\d+)>\\r?$`, 'gm');
const SHORT = 200;

/** Reads turn boundaries, opening messages and checkpoints of the events that came since. */
export class PlainTable {
  turns = new Map();
  current = undefined;
  read = 0;

  feed(events) {
    for (; this.read < events.length; this.read += 1) this.#event(events[this.read]);
  }

  #event(event) {
    switch (event.type) {
      case 'turn/start':
        if (this.current && this.current.end === undefined) this.current.end = event.seq - 1;
        this.current = { number: event.data.turn, start: event.seq, startTime: event.time };
        this.turns.set(event.data.turn, this.current);
        break;
      case 'turn/end': {
        const turn = this.turns.get(event.data.turn);
        if (turn) Object.assign(turn, { end: event.seq, endTime: event.time });
        break;
      }
      case 'user/message':
        this.#message(event);
        break;
      default:
    }
  }

  #message(event) {
    const { source } = event.data;
    if (event.surfaceOp !== 'append') {
      if (source?.plugin === 'turn-memory' && source.scope === 'whole-turn') {
        const turn = this.turns.get(source.turn);
        if (turn) turn.checkpoint = event.seq;
      }
      return;
    }
    const { current } = this;
    if (!current || current.end !== undefined) return;
    const person = source?.kind === 'user';
    if (current.opening === undefined || (person && !current.byPerson)) {
      current.opening = event.seq;
      current.byPerson = person;
    }
  }
}

/** The seqs of a turn's process on a surface without replacements, in order, proven contiguous and balanced. */
export function plainSpan(nodes, events, turn) {
  const window = [];
  for (let at = nodes.length - 1; at >= 0 && nodes[at] >= turn.start; at -= 1) window.push(nodes[at]);
  window.reverse();
  const opening = window.indexOf(turn.opening);
  const span = window.slice(opening + 1);
  const open = new Map();
  for (const seq of span) {
    const { type, data } = events[seq];
    if (type === 'assistant/message') {
      for (const block of data.message.content) {
        if (block.type === 'tool-call') open.set(block.id, (open.get(block.id) ?? 0) + 1);
      }
    } else if (type === 'tool/result') {
      const id = data.message.content[0].toolCallId;
      const count = open.get(id) ?? 0;
      if (count === 0) throw new Error(`orphan ${seq}`);
      open.set(id, count - 1);
    }
  }
  for (const count of open.values()) if (count > 0) throw new Error('open call');
  return span;
}

function points(text) {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00 && at + 1 < text.length) {
      const next = text.charCodeAt(at + 1);
      if (next >= 0xdc00 && next < 0xe000) at += 1;
    }
    count += 1;
  }
  return count;
}

function capped(text, cap) {
  if (text.length <= cap) return text;
  const all = Array.from(text);
  if (all.length <= cap) return text;
  const head = all.slice(0, Math.ceil(cap / 2)).join('');
  const tail = cap < 2 ? '' : all.slice(-Math.floor(cap / 2)).join('');
  return `${head} ... [truncated, ${all.length} chars total] ... ${tail}`;
}

/** A span's segments, the ids that are left to write, and the shortest text that could land. */
export function plainDraft(span, events, turn, cap) {
  const segments = [];
  let working = [];
  const names = new Map();
  const flush = () => {
    if (working.length > 0) segments.push({ kind: 'working', content: working.join('\n') });
    working = [];
  };
  const verbatim = (kind, content) => {
    if (content === '') return;
    flush();
    segments.push({ kind, content });
  };
  for (const seq of span) {
    const { type, data } = events[seq];
    if (type === 'user/message') {
      const text = data.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('');
      if (data.source.kind === 'user') verbatim('user-steer', text);
      else working.push(`[injected: ${data.source.plugin ?? data.source.kind}]\n${text}`);
    } else if (type === 'assistant/message') {
      for (const block of data.message.content) {
        if (block.type === 'text') verbatim('assistant', block.text);
        else if (block.type === 'reasoning') working.push(`[reasoning]\n${capped(block.text, 2000)}`);
        else if (block.type === 'tool-call') {
          working.push(`[tool call: ${block.name}] ${capped(block.arguments, 300)}`);
          names.set(block.id, [...names.get(block.id) ?? [], block.name]);
        } else working.push(`[${block.type}]`);
      }
    } else {
      const [{ toolCallId, isError, content }] = data.message.content;
      const text = content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
      const name = names.get(toolCallId)?.shift() ?? 'unknown';
      working.push(`[tool/result: ${name}]${isError ? '(error)' : ''}\n${capped(text, cap)}`);
    }
  }
  flush();
  const taken = new Set();
  for (const { content } of segments) for (const [, id] of content.matchAll(TAG)) taken.add(Number(id));
  let base = 1;
  for (const id of [...taken].toSorted((a, b) => a - b)) if (id >= base && id < base + segments.length) base = id + 1;
  const unfinished = [];
  const parts = segments.map(({ kind, content }, index) => {
    const id = base + index;
    const long = kind === 'working' && points(content) > SHORT;
    if (long) unfinished.push(id);
    return `<${kind}:${id}>\n${long ? '.' : content}\n</${kind}:${id}>`;
  });
  const text = `<turn-summary turn="${turn}" version="5">\n${parts.join('\n')}\n</turn-summary>`;
  return { text, unfinished, contents: segments.map(({ content }) => content) };
}
