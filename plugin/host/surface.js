/**
 * Session to columns: a few integers an event, cached per session, and the ordered seqs of the part of the
 * surface that a decision needs. No text is kept, and nothing is decided here: the core does (docs/rewind.md 1).
 */
import { harness } from './compat.js';
import { isReplacement, resultOf } from './events.js';

/** Node kinds, the low two bits of a fact. */
const USER = 1;
const ASSISTANT = 2;
const RESULT = 3;
const KIND = 3;
/** Flags of a fact, as `src/surface.rs` names them. */
const PERSON = 1 << 2;
const MEMORY = 1 << 3;
const EMPTY = 1 << 4;
const ABSENT = 1 << 6;
const REPORT = 1 << 7;

const UNKNOWN = 0xffffffff;
const cache = new WeakMap();

/** Model-visible text of blocks in UTF-16 code units: images and unknown blocks count nothing. */
function textLength(blocks) {
  let length = 0;
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at];
    switch (block.type) {
      case 'text':
      case 'reasoning':
        length += block.text.length;
        break;
      case 'tool-call':
        if (typeof block.arguments === 'string') length += block.arguments.length;
        break;
      case 'tool-result':
        length += textLength(block.content);
        break;
      default:
    }
  }
  return length;
}

/** The growing columns of one session. */
class Columns {
  facts = new Uint8Array(0);
  chars = new Uint32Array(0);
  origins = new Uint32Array(0);
  calls = new Uint32Array(0);
  pool = new Uint32Array(256);
  used = 0;
  interned = new Map();

  reserve(length) {
    if (length <= this.facts.length) return;
    const size = Math.max(length * 2, 256);
    const grow = (column) => {
      const next = new column.constructor(size);
      next.set(column);
      return next;
    };
    const known = this.origins.length;
    this.facts = grow(this.facts);
    this.chars = grow(this.chars);
    this.calls = grow(this.calls);
    this.origins = grow(this.origins).fill(UNKNOWN, known);
  }

  intern(text) {
    const known = this.interned.get(text);
    if (known !== undefined) return known;
    const id = this.interned.size + 1;
    this.interned.set(text, id);
    return id;
  }

  put(value) {
    if (this.used === this.pool.length) {
      const next = new Uint32Array(this.pool.length * 2);
      next.set(this.pool);
      this.pool = next;
    }
    this.pool[this.used] = value;
    this.used += 1;
  }

  /** Fills the columns of one seq. An event of no use stays 0, which the core refuses. */
  fill(events, seq) {
    const event = events[seq];
    if (event?.seq !== seq) return;
    this.origins[seq] = isReplacement(event) ? this.origin(events, seq) : seq;
    this.enter(event, seq);
  }

  enter(event, seq) {
    try {
      if (event.type === 'assistant/message') this.facts[seq] = this.assistant(event, seq);
      else if (event.type === 'tool/result') this.facts[seq] = this.result(event, seq);
      else if (event.type === 'user/message') this.facts[seq] = this.user(event, seq);
    } catch {
      // An imported log may hold an event of no known shape: it stays 0 too, and is named where it matters.
      this.facts[seq] = 0;
    }
  }

  assistant(event, seq) {
    const blocks = event.data.message.content;
    const at = this.used;
    this.calls[seq] = at;
    this.put(0);
    let count = 0;
    let chars = 0;
    let fact = ASSISTANT | (blocks.length === 0 ? ABSENT : EMPTY);
    for (let index = 0; index < blocks.length; index += 1) {
      const block = blocks[index];
      if (block.type === 'tool-call') {
        count += 1;
        this.put(this.intern(block.id));
        this.put(this.intern(block.name));
        if (typeof block.arguments === 'string') chars += block.arguments.length;
        fact &= ~EMPTY;
      } else if (block.type === 'reasoning') {
        chars += block.text.length;
      } else if (block.type === 'text') {
        chars += block.text.length;
        if (block.text !== '') fact &= ~EMPTY;
      } else {
        fact &= ~EMPTY;
      }
    }
    this.pool[at] = count;
    this.chars[seq] = chars;
    return fact;
  }

  result(event, seq) {
    this.calls[seq] = this.used;
    this.put(1);
    const { callId, blocks } = resultOf(event);
    this.put(this.intern(callId));
    this.put(0);
    this.chars[seq] = textLength(blocks);
    return RESULT;
  }

  user(event, seq) {
    const { content, source } = event.data;
    this.chars[seq] = textLength(content);
    let fact = USER;
    if (source?.kind === 'user') fact |= PERSON;
    else if (source?.plugin === 'turn-memory') fact |= MEMORY;
    else if (source?.plugin === 'rewind') fact |= REPORT;
    if (content.every((block) => block.type === 'text' && block.text === '')) fact |= EMPTY;
    return fact;
  }

  /** Smallest origin, followed down through replacements of replacements without recursion (docs/rewind.md 1.1). */
  origin(events, seq) {
    const { origins } = this;
    const stack = [seq];
    while (stack.length > 0) {
      const at = stack.at(-1);
      const event = events[at];
      let least = at;
      let ready = true;
      if (isReplacement(event)) {
        for (const source of event.sourceEventSeqs ?? []) {
          if (source >= at || !isEligible(events[source])) continue;
          if (origins[source] === UNKNOWN) {
            stack.push(source);
            ready = false;
          } else if (origins[source] < least) {
            least = origins[source];
          }
        }
      }
      if (!ready) continue;
      origins[at] = least;
      stack.pop();
    }
    return origins[seq];
  }
}

function isEligible(event) {
  return event?.type === 'user/message' || event?.type === 'assistant/message' || event?.type === 'tool/result';
}

function columnsOf(session, length) {
  let columns = cache.get(session);
  if (!columns) cache.set(session, columns = new Columns());
  columns.reserve(length);
  return columns;
}

/** Seqs cross in one buffer, over and over: a new one of a long surface is memory that the system has to clear first. */
let crossing = new Uint32Array(1 << 10);

/**
 * Takes in one event as it is published, while it is at hand: the first fold of a long session then finds
 * its columns filled. Replacements wait for the fold that needs them, since their origins take the log.
 *
 * @param session - the session that published the event.
 * @param event - the event, exactly as logged.
 */
export function observe(session, event) {
  if (!isEligible(event) || isReplacement(event)) return;
  const { seq } = event;
  const columns = columnsOf(session, seq + 1);
  if (columns.facts[seq] !== 0) return;
  columns.origins[seq] = seq;
  columns.enter(event, seq);
}

/**
 * Reads the columns of the surface from the tail back to the last assistant message that is older than the
 * mark: the carrier, if there is one, stands in the window together with everything that can fold.
 *
 * @param session - the session to read.
 * @param logLength - the mark's log length; seqs below it are older.
 * @param events - the log snapshot, where the caller has one already.
 * @returns the window's nodes and the columns by seq, as the core takes them, good until the next reading; `from` is
 * where it starts on the surface.
 */
export function readWindow(session, logLength, events = harness.events(session)) {
  const columns = columnsOf(session, events.length);
  const { facts, origins } = columns;
  const { nodes } = session.surface;
  if (nodes.length > crossing.length) crossing = new Uint32Array(nodes.length * 2);
  // Written out, in one pass: the language's own conversion walks an iterator, which takes several times as long.
  const seqs = crossing;
  let from = nodes.length;
  while (from > 0) {
    from -= 1;
    const seq = nodes[from];
    seqs[from] = seq;
    if (facts[seq] === 0) columns.fill(events, seq);
    if (origins[seq] < logLength && (facts[seq] & KIND) === ASSISTANT) break;
  }
  const { chars, calls, pool } = columns;
  return { from, nodes: seqs.subarray(from, nodes.length), facts, chars, origins, calls, pool };
}

/**
 * Reads the columns of the whole surface: nothing is older than the start of the log.
 *
 * @param session - the session to read.
 * @param events - the log snapshot, where the caller has one already.
 * @returns every node and the columns by seq, as {@link readWindow} gives them.
 */
export function readSurface(session, events) {
  return readWindow(session, 0, events);
}

/**
 * @param session - a session whose columns were read.
 * @param text - a call id or a tool name.
 * @returns the number that stands for it in the columns, undefined where no node read so far bears it.
 */
export function internedAs(session, text) {
  return cache.get(session)?.interned.get(text);
}

/** @returns the model-visible text of `seqs`, UTF-16 code units. */
export function charsOf(session, seqs) {
  const { chars } = cache.get(session);
  return seqs.reduce((sum, seq) => sum + chars[seq], 0);
}
