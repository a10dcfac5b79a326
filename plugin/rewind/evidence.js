/**
 * What the core reads a report's facts from. A session's text crosses the border here and nowhere else, once
 * a fold: the folded events as the log holds them, and whatever else the model was sent.
 */
import { contentOf, isReplacement } from '../host/events.js';
import { isReportSource } from '../host/reports.js';

const SURFACE = new Set(['user/message', 'assistant/message', 'tool/result']);

/**
 * Collects the evidence of a fold. A node that stands for others is followed down to them, so that a pruned
 * result or a summary costs no fact; a report is not, for its source holds the ledger of what it stands for.
 *
 * @param session - the session that folds.
 * @param events - the log snapshot.
 * @param folded - the folded seqs, rewritten siblings included.
 * @param request - `{ sent, extra }`: the seqs that the model was sent, and further messages it was sent; empty
 * where no model was asked.
 * @returns the JSON that the core reads.
 */
export function evidenceOf(session, events, folded, { sent, extra }) {
  const seqs = originsOf(events, folded);
  const own = new Set(seqs);
  return JSON.stringify({
    carrier: slim(events[carrierOf(session, events, folded[0])]),
    events: withDispatches(events, seqs).map((seq) => slim(events[seq])),
    sent: sent.filter((seq) => own.has(seq)),
    messages: [
      ...sent.filter((seq) => !own.has(seq)).map((seq) => message(events[seq])),
      ...extra.map(({ content }) => ({ content })),
    ],
  });
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
  if (!event) return undefined;
  const { seq, type, data } = event;
  if (type === 'assistant/message' || type === 'tool/result') return { seq, type, data: { message: data.message } };
  return { seq, type, data };
}
