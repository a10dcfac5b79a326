/** The commit of a fold: one synchronous block (docs/rewind.md 3.3). */
import { createToolResultMessage } from '@deepseek-ai/dsh-llm';
import { landContent, landMessage, priceOf } from '../host/commit.js';
import { RewindError } from '../host/error.js';

/** Source plugin name of the one-line pointers that earlier segments become. */
export const POINTER_PLUGIN = 'rewind-pointer';

/**
 * Draws up what each edit of a plan lands.
 *
 * @param edits - the core's edits, in order.
 * @param report - the composed report.
 * @param source - the report's source; pointers carry its mark.
 * @returns the edits with `content`, and with `source` where they become a message of their own.
 */
export function draft(edits, report, source) {
  return edits.map(({ kind, seqs, text }) => {
    const content = [{ type: 'text', text: text ?? report }];
    if (kind === 'report') return { seqs, content, source };
    if (kind === 'pointer') {
      return { seqs, content, source: { kind: 'plugin', plugin: POINTER_PLUGIN, markId: source.markId } };
    }
    return { seqs, content };
  });
}

/**
 * Prices runs of nodes as they stand, which they keep for good: an event never changes.
 *
 * @param meter - `ctx.tokenMeter`, or undefined.
 * @param session - the session that holds them.
 * @param runs - the runs by their first seq, each a list of seqs.
 * @param events - the log snapshot.
 * @returns estimated tokens by a run's first seq; undefined without a meter, or where it cannot price a node, as
 * one whose arguments are no text: characters alone decide then.
 */
export function pricesOf(meter, session, runs, events) {
  try {
    return meter && new Map([...runs].map(([first, seqs]) => [first, priceOf(meter, session, seqs, events)]));
  } catch {
    return undefined;
  }
}

/**
 * Prices what drafts will cost on the surface, as the meter will price it once it stands there.
 *
 * @param meter - `ctx.tokenMeter`, or undefined.
 * @param drafts - drawn up by {@link draft}.
 * @returns estimated tokens, undefined without a meter.
 */
export function priceOfDrafts(meter, drafts) {
  if (!meter) return undefined;
  // A price takes no identity and no frozen copy of its own.
  const messageOf = ({ content, source }) => (source
    ? { role: 'user', content, source }
    : createToolResultMessage({ callId: 'x', content, isError: false }));
  return drafts.reduce((tokens, one) => tokens + meter.estimateMessage(messageOf(one)), 0);
}

/**
 * Appends drafts in order. The first is the report: when it throws, nothing was folded; when a later one
 * throws, the fold stands and what is left over is told.
 *
 * @param session - the session to edit.
 * @param prices - what each draft's nodes cost, by its first seq; undefined without a meter.
 * @param drafts - drawn up by {@link draft}.
 * @returns `{ drafts, folded?, failure? }`: what landed; and where an error stopped the rest, the error and the seqs
 * that were folded.
 * @throws {RewindError} `CHANGED` when the first append throws.
 */
export function landAll(session, prices, drafts) {
  for (const [index, { seqs, content, source }] of drafts.entries()) {
    const tokens = prices?.get(seqs[0]);
    try {
      if (source) landMessage(session, { seqs, message: { content, source }, tokens });
      else landContent(session, { seq: seqs[0], content, tokens });
    } catch (cause) {
      if (index > 0) {
        const landed = drafts.slice(0, index);
        return { folded: landed.flatMap((one) => one.seqs), drafts: landed, failure: cause };
      }
      throw new RewindError('CHANGED', `The session refused the report (${cause.message}), so nothing was folded. `
        + 'The mark stays active; fold again later, or go on.', { cause });
    }
  }
  return { drafts };
}
