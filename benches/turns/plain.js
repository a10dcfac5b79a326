/**
 * The work of segmenting and rendering in plain JavaScript, as one would write it without a core: the measure
 * for the native one. It does the whole job on the same inputs: the turn table with interrupted and repeated
 * turns, origins through replacements, what never belongs to a turn, contiguity, pairing by occurrence, spliced
 * summaries, quotes, caps in code points, the free id base, what is left to write, and the shortest text.
 */
const KINDS = 'user-steer|assistant|working';
const COLLIDES = new RegExp(`^</?(?:${KINDS}):(\\d+)>\\r?$`, 'gm');
const SEGMENT = new RegExp(`^<(${KINDS}):(0|[1-9]\\d*)>\\n(?:([\\s\\S]*?)\\n)??</\\1:\\2>$`, 'gm');
const SHORT = 200;

const isReplacement = ({ surfaceOp }) => typeof surfaceOp === 'object' && surfaceOp !== null;
const isSurface = (type) => type === 'user/message' || type === 'assistant/message' || type === 'tool/result';
const isWholeTurn = (source) => source?.kind === 'plugin' && source.plugin === 'turn-memory' && source.scope === 'whole-turn';

/** Reads turn boundaries, opening messages, checkpoints and compactions of the events that came since. */
export class PlainTable {
  turns = new Map();
  current = undefined;
  compacting = false;
  read = 0;

  feed(events) {
    for (; this.read < events.length; this.read += 1) this.#event(events[this.read]);
  }

  #event(event) {
    switch (event.type) {
      case 'turn/start':
        if (this.current && this.current.end === undefined) this.current.end = event.seq - 1;
        this.current = { number: event.data.turn, start: event.seq, startTime: event.time };
        this.turns.delete(event.data.turn);
        this.turns.set(event.data.turn, this.current);
        break;
      case 'turn/end': {
        const turn = this.turns.get(event.data.turn);
        if (turn) Object.assign(turn, { end: event.seq, endTime: event.time });
        break;
      }
      case 'compaction/start':
        this.compacting = true;
        break;
      case 'compaction/end':
      case 'session/end-seed':
        this.compacting = false;
        break;
      case 'user/message':
        this.#message(event);
        break;
      default:
    }
  }

  #message(event) {
    const source = event.data.source ?? {};
    if (isReplacement(event)) {
      const turn = isWholeTurn(source) && source.version >= 4 && source.version <= 6 ? this.turns.get(source.turn) : undefined;
      if (turn) turn.checkpoint = event.seq;
      return;
    }
    const { current } = this;
    if (!current || current.end !== undefined) return;
    const person = source.kind === 'user';
    if (current.opening === undefined || (person && !current.byPerson)) {
      current.opening = event.seq;
      current.byPerson = person;
    }
  }
}

function originsOf(events, node) {
  if (!isReplacement(node)) return { first: node.seq, last: node.seq };
  const seqs = [];
  const seen = new Set();
  const open = [node];
  while (open.length > 0) {
    const event = open.pop();
    if (!isReplacement(event)) {
      seqs.push(event.seq);
      continue;
    }
    for (const seq of event.sourceEventSeqs ?? []) {
      if (seq >= event.seq || seen.has(seq) || !isSurface(events[seq]?.type)) continue;
      seen.add(seq);
      open.push(events[seq]);
    }
  }
  return seqs.length === 0 ? { first: node.seq, last: node.seq } : { first: Math.min(...seqs), last: Math.max(...seqs) };
}

/** The seqs that a turn's checkpoint would replace. */
export function plainSpan(nodes, events, turn) {
  if (turn === undefined || turn.end === undefined || turn.checkpoint !== undefined) throw new Error('no candidate');
  const window = [];
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const event = events[nodes[at]];
    const { first, last } = originsOf(events, event);
    const source = event.type === 'user/message' ? event.data.source : undefined;
    const foreign = isWholeTurn(source) || (source?.kind === 'plugin' && source.plugin === 'compact');
    window.push({ event, first, last, foreign });
    if (last < turn.start) break;
  }
  window.reverse();
  const inside = (seq) => seq >= turn.start && seq <= turn.end;
  const ours = ({ first, last, foreign }) => !foreign && inside(first) && inside(last);
  const opening = window.findIndex(({ first, last, foreign }) => !foreign && first === turn.opening && last === turn.opening);
  const rest = window.slice(opening + 1);
  const from = rest.findIndex(ours);
  const to = rest.findLastIndex(ours);
  if (from < 0) throw new Error('empty');
  const span = rest.slice(from, to + 1);
  if (!span.every(ours)) throw new Error('not contiguous');
  if (!span.some(({ event }) => event.type === 'assistant/message')) throw new Error('no assistant');
  return span.map(({ event }) => event.seq);
}

function resultOf(event) {
  const { message } = event.data;
  const wrapped = message.content[0]?.type === 'tool-result' ? message.content[0] : undefined;
  return {
    callId: wrapped?.toolCallId ?? message.source?.callId,
    blocks: wrapped?.content ?? message.content,
    failed: (wrapped ?? message).isError === true,
  };
}

function points(text) {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00) {
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

const asText = (value) => (typeof value === 'string' ? value : '');
const said = (blocks, between) => blocks.map((block) => (
  block.type === 'text' || block.type === 'reasoning' ? asText(block.text) : `[${block.name ?? block.type}]`
)).join(between);

/** A span's segments under construction. */
class PlainDraft {
  segments = [];
  working = [];
  open = [];

  constructor(turn, cap) {
    this.turn = turn;
    this.cap = cap;
  }

  flush() {
    if (this.working.length > 0) this.segments.push({ kind: 'working', content: this.working.join('\n') });
    this.working = [];
  }

  verbatim(kind, content) {
    if (content === '') return;
    this.flush();
    this.segments.push({ kind, content });
  }

  user({ source = {}, content }) {
    if (source.kind === 'user') {
      this.verbatim('user-steer', said(content, ''));
      return;
    }
    if (source.kind === 'plugin' && source.plugin === 'turn-memory' && source.scope !== 'whole-turn' && source.turn === this.turn) {
      if (this.splice(said(content, ''))) return;
    } else if (source.kind === 'plugin' && source.plugin === 'rewind' && Array.isArray(source.quotes)) {
      for (const quote of source.quotes) this.verbatim('user-steer', asText(quote));
    }
    const label = (source.kind === 'plugin' ? asText(source.plugin) : asText(source.kind)) || 'context';
    this.working.push(`[injected: ${label}]\n${said(content, '\n')}`);
  }

  splice(text) {
    const wrapped = /^<turn-summary [^\n]*>\n([\s\S]*)\n<\/turn-summary>$/.exec(text);
    const inner = wrapped ? wrapped[1] : text;
    const found = [...inner.matchAll(SEGMENT)];
    if (found.length === 0 || inner.replaceAll(SEGMENT, '').trim() !== '') return false;
    this.flush();
    for (const [, kind, , content = ''] of found) this.segments.push({ kind, content, preserved: true });
    return true;
  }

  assistant({ content }) {
    for (const block of content) {
      if (block.type === 'text') this.verbatim('assistant', asText(block.text));
      else if (block.type === 'reasoning') {
        this.working.push(block.text === '' ? '[reasoning]' : `[reasoning]\n${capped(asText(block.text), 2000)}`);
      } else if (block.type === 'tool-call') {
        this.working.push(`[tool call: ${block.name}] ${capped(asText(block.arguments), 300)}`);
        this.open.push({ id: block.id, name: block.name });
      } else this.working.push(`[${block.type}]`);
    }
  }

  result(event) {
    const { callId, blocks, failed } = resultOf(event);
    const at = this.open.findIndex(({ id }) => id === callId);
    if (at < 0) throw new Error(`orphan ${event.seq}`);
    const [{ name }] = this.open.splice(at, 1);
    this.working.push(`[tool/result: ${name}]${failed ? '(error)' : ''}\n${capped(said(blocks, '\n'), this.cap)}`);
  }

  finish() {
    if (this.open.length > 0) throw new Error('open call');
    this.flush();
    const taken = new Set();
    for (const { content } of this.segments) for (const [, id] of content.matchAll(COLLIDES)) taken.add(Number(id));
    let base = 1;
    for (const id of [...taken].toSorted((a, b) => a - b)) if (id >= base && id < base + this.segments.length) base = id + 1;
    const unfinished = [];
    const parts = this.segments.map(({ kind, content, preserved }, index) => {
      const id = base + index;
      const long = kind === 'working' && !preserved && points(content) > SHORT;
      if (long) unfinished.push(id);
      return `<${kind}:${id}>\n${long ? '.' : content}\n</${kind}:${id}>`;
    });
    const text = `<turn-summary turn="${this.turn}" version="5">\n${parts.join('\n')}\n</turn-summary>`;
    return { text, unfinished, contents: this.segments.map(({ content }) => content) };
  }
}

/** A span's segments, the ids that are left to write, and the shortest text that could land. */
export function plainDraft(span, events, turn, cap) {
  const draft = new PlainDraft(turn, cap);
  for (const seq of span) {
    const event = events[seq];
    if (event.type === 'user/message') draft.user(event.data);
    else if (event.type === 'assistant/message') draft.assistant(event.data.message);
    else draft.result(event);
  }
  return draft.finish();
}
