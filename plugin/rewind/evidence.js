/**
 * What the core reads a report's facts from. A session's text crosses the border here and nowhere else, once
 * a fold: the folded events as the log holds them, and whatever else the model was sent.
 */
import { contentOf, isReplacement } from '../host/events.js';
import { isReportSource } from '../host/reports.js';
import { native } from '../native.js';

const SURFACE = new Set(['user/message', 'assistant/message', 'tool/result']);

/**
 * Gives the evidence of a fold to its reader. A node that stands for others is followed down to them, so that
 * a pruned result or a summary costs no fact; a report is not, for its source holds the ledger of what it
 * stands for.
 *
 * @param session - the session that folds.
 * @param events - the log snapshot.
 * @param folded - the folded seqs, rewritten siblings included.
 * @param sent - `{ sent, extra }`: the seqs that the model was sent, as the core gives them, and further messages it
 * was sent; empty where no model was asked.
 * @param rules - `prose`, `tools` and `roots`, as the core's reader takes them.
 * @returns the core's reader, with everything read.
 */
export function readEvidence(session, events, folded, { sent, extra }, rules) {
  const seqs = originsOf(events, folded);
  const own = new Set(seqs);
  const evidence = new native.ReportEvidence({ ...rules, sent: sent.filter((seq) => own.has(seq)) });
  const pieces = new Pieces((bytes) => evidence.read(bytes));
  const carrier = events[carrierOf(session, events, folded[0])];
  if (carrier) pieces.put('carrier', slim(carrier));
  for (const seq of withDispatches(events, seqs)) pieces.add('events', slim(events[seq]));
  for (const seq of sent) if (!own.has(seq)) pieces.add('messages', message(events[seq]));
  for (const { content } of extra) pieces.add('messages', { content });
  pieces.close();
  return evidence;
}

/** Bytes of a piece, about: the reader is called for each, and a buffer of this size is held. */
const PIECE = 1 << 20;

/**
 * The buffer of a small fold, for the next one: a fold that makes its own leaves it to the collector, and what
 * hundreds of them held between two collections stays with the process. Absent while a fold writes into it.
 */
let spare = Buffer.allocUnsafe(1 << 16);

/** JSON objects with one list each, written into one buffer over and over: no large string is ever made. */
class Pieces {
  #take;
  #own = spare ?? Buffer.allocUnsafe(1 << 16);
  #buffer = this.#own;
  #length = 0;
  #list;

  constructor(take) {
    this.#take = take;
    spare = undefined;
  }

  /** Nothing is written any more. */
  close() {
    this.end();
    spare = this.#own;
  }

  put(name, value) {
    this.#write(`{"${name}":${JSON.stringify(value)}}`);
    this.#flush();
  }

  add(name, item) {
    if (this.#list !== name || this.#length > PIECE) {
      this.end();
      this.#write(`{"${name}":[`);
      this.#list = name;
    } else {
      this.#write(',');
    }
    this.#write(JSON.stringify(item));
  }

  end() {
    if (this.#list === undefined) return;
    this.#write(']}');
    this.#list = undefined;
    this.#flush();
  }

  #write(text) {
    // No UTF-16 unit takes more than three bytes.
    const most = this.#length + text.length * 3;
    if (most > this.#buffer.length) {
      const next = Buffer.allocUnsafe(Math.max(most, Math.min(this.#buffer.length * 2, PIECE + (1 << 16))));
      this.#buffer.copy(next, 0, 0, this.#length);
      this.#buffer = next;
    }
    this.#length += this.#buffer.write(text, this.#length);
  }

  #flush() {
    this.#take(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
  }
}

/**
 * @param events - the log snapshot.
 * @returns the texts that persons wrote in the session.
 */
export function personsTexts(events) {
  return events
    .filter(({ type, data }) => type === 'user/message' && data.source?.kind === 'user')
    .flatMap(({ data }) => data.content.filter(({ type }) => type === 'text').map(({ text }) => text));
}

/** The events that nodes stand for, in log order, each once. */
function originsOf(events, nodes) {
  const found = new Set();
  const pending = [...nodes];
  while (pending.length > 0) {
    const seq = pending.pop();
    const event = events[seq];
    if (!SURFACE.has(event?.type) || found.has(seq)) continue;
    const { source } = event.data;
    if (isReplacement(event) && !(isReportSource(source) && source.ledger)) {
      // Only downwards: a log that cites later events must not make this run for ever.
      for (const origin of event.sourceEventSeqs ?? []) if (origin < seq) pending.push(origin);
    } else {
      found.add(seq);
    }
  }
  return [...found].toSorted((a, b) => a - b);
}

/** Calls that a program made between the events: only the log knows them. */
function withDispatches(events, seqs) {
  if (seqs.length === 0) return seqs;
  const inside = [];
  for (let seq = seqs[0]; seq <= seqs.at(-1); seq += 1) {
    if (events[seq].type === 'tool/code-dispatch') inside.push(seq);
  }
  return inside.length === 0 ? seqs : [...seqs, ...inside].toSorted((a, b) => a - b);
}

/** The assistant message before the first folded node: its other calls are answered among them. */
function carrierOf(session, events, first) {
  const { nodes } = session.surface;
  for (let at = nodes.indexOf(first) - 1; at >= 0; at -= 1) {
    if (events[nodes[at]].type === 'assistant/message') return nodes[at];
  }
  return undefined;
}

/** What the model was sent of an event; a report also says which of its claims are unproven. */
function message(event) {
  const { source } = event.data;
  return { content: contentOf(event), ...(isReportSource(source) ? { source } : {}) };
}

/** An event without what only cards need: presentation data may repeat a whole file. */
function slim(event) {
  const { seq, type, data } = event;
  if (type === 'assistant/message' || type === 'tool/result') return { seq, type, data: { message: data.message } };
  return { seq, type, data };
}
