/** The surface on its way to the core: the session's own events, without what pruning does not read. */
import { harness } from '../host/compat.js';
import { RewindError } from '../host/error.js';
import { isReplacement } from '../host/events.js';

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
  const results = surface.filter(({ type }) => type === 'tool/result');
  const sources = [];
  for (const result of results) {
    for (let event = result; isReplacement(event);) {
      const { start = event.surfaceOp.startSeq } = event.surfaceOp;
      event = events[start] ?? missing(start);
      sources.push(event);
    }
  }
  try {
    const view = settings.view(JSON.stringify(surface.map(slim)), JSON.stringify(sources.map(slim)));
    return { view, events, seqs: results.map(({ seq }) => seq) };
  } catch (error) {
    throw new RewindError(error.code ?? 'UNREADABLE', error.message, { cause: error });
  }
}

/** Results may carry private data of their tool that is larger than their text. */
function slim({ seq, type, surfaceOp, data }) {
  return { seq, type, surfaceOp, data: type === 'user/message' ? data : { message: data.message } };
}

function missing(seq) {
  throw new RewindError(
    'CORRUPT_SURFACE',
    `the surface cannot be pruned: the node at seq ${seq} is not in the session log. Nothing was changed.`,
  );
}
