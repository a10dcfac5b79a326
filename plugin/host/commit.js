/**
 * Plan to append: the only code of the package that calls `session.append`. Every replacement cites all it
 * shadows and is preceded by its price, so that context meters stay exact (docs/rewind.md 3.3).
 */
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { harness } from './compat.js';

/**
 * Sums the harness's own price of surface nodes.
 *
 * @param meter - `ctx.tokenMeter`, or undefined.
 * @param session - the session that holds the nodes.
 * @param seqs - the nodes to price.
 * @param events - the log snapshot, where the caller has one already.
 * @returns estimated tokens, undefined without a meter.
 */
export function priceOf(meter, session, seqs, events = harness.events(session)) {
  if (!meter) return undefined;
  let tokens = 0;
  for (const seq of seqs) {
    const message = session.deriveEventMessage(events[seq]);
    if (message !== null) tokens += meter.estimateMessage(message);
  }
  return tokens;
}

/**
 * Replaces a run of nodes by one user message.
 *
 * @param session - the session to edit.
 * @param edit - `seqs`: the run in surface order; `message`: content and source of what lands; `tokens`: the
 * run's price, undefined without a meter.
 * @returns the logged event.
 * @throws what the session throws; the run then stands as it was.
 */
export function landMessage(session, { seqs, message, tokens }) {
  return land(session, 'user/message', createUserMessage(message), seqs, tokens);
}

/**
 * Rewrites the content of one tool result and nothing else of it.
 *
 * @param session - the session to edit.
 * @param edit - `seq`: the result's node; `content`: its new blocks; `tokens`: its price, undefined without a meter.
 * @returns the logged event.
 * @throws what the session throws; the result then stands as it was.
 */
export function landContent(session, { seq, content, tokens }) {
  const { data } = harness.eventAt(session, seq);
  const [block] = data.message.content;
  const next = block?.type === 'tool-result' ? [{ ...block, content }] : content;
  return land(session, 'tool/result', { ...data, message: { ...data.message, content: next } }, [seq], tokens);
}

function land(session, type, data, seqs, tokens) {
  const start = seqs[0];
  const end = seqs.at(-1);
  if (tokens !== undefined) {
    session.append('compaction/prune', {
      shadowedRange: { start, end },
      shadowedSeqs: seqs,
      shadowedTokenCount: tokens,
    });
  }
  return session.append(type, data, { surfaceOp: harness.replaceOp(start, end), sourceEventSeqs: seqs });
}
