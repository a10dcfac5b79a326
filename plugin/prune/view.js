/** The surface on its way to the core: the session's own events, without what pruning does not read. */
import { harness } from '../host/compat.js';
import { RewindError } from '../host/error.js';
import { isReplacement, resultOf } from '../host/events.js';

const EMPTY = { type: 'text', text: '' };

/**
 * Reads the surface of a session for one pass.
 *
 * @param settings - the compiled configuration (`PruneSettings` of the core).
 * @param session - the session.
 * @returns `{ view, events, seqs }`: the core's view, the log snapshot it was made of, and the seqs of the
 *   results on the surface, in order.
 * @throws {RewindError} `CORRUPT_SURFACE` or `UNREADABLE`, naming the seq; nothing was edited then.
 */
export function readView(settings, session) {
  const events = harness.events(session);
  const surface = session.surface.nodes.map((seq) => events[seq] ?? missing(seq));
  const sources = [];
  const texts = [];
  const seqs = [];
  for (const result of surface) {
    if (result.type !== 'tool/result') continue;
    seqs.push(result.seq);
    takeTexts(result, texts);
    for (let event = result; isReplacement(event);) {
      const { start = event.surfaceOp.startSeq } = event.surfaceOp;
      event = events[start] ?? missing(start);
      sources.push(event);
      takeTexts(event, texts);
    }
  }
  try {
    const view = settings.view(JSON.stringify(surface.map(slim)), JSON.stringify(sources.map(slim)), texts);
    return { view, events, seqs };
  } catch (error) {
    throw new RewindError(error.code ?? 'UNREADABLE', error.message, { cause: error });
  }
}

/** Bodies are nearly all of a surface: they cross as texts beside the events, where they stand empty. */
function takeTexts(event, texts) {
  for (const block of resultOf(event).blocks) if (block.type === 'text') texts.push(block.text);
}

/**
 * What pruning reads of an event; results may carry private data of their tool that is larger than their
 * text.
 */
function slim({ seq, type, surfaceOp, data }) {
  const op = surfaceOp === 'append' ? undefined : surfaceOp;
  if (type === 'user/message') return { seq, type, surfaceOp: op, data };
  const { message } = data;
  if (type !== 'tool/result')
    return { seq, type, surfaceOp: op, data: { message: { content: message.content } } };
  return {
    seq,
    type,
    surfaceOp: op,
    data: { message: { ...message, content: message.content.map(withoutText) } },
  };
}

function withoutText(block) {
  if (block.type === 'text') return EMPTY;
  return block.type === 'tool-result' ? { ...block, content: block.content.map(withoutText) } : block;
}

function missing(seq) {
  throw new RewindError(
    'CORRUPT_SURFACE',
    `the surface cannot be pruned: the node at seq ${seq} is not in the session log. Nothing was changed.`,
  );
}
