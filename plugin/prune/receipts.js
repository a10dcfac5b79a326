/** Layer 2: receipts, priced and landed (docs/prune.md 3.6). */
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { landContent, landMessage, priceOf } from '../host/commit.js';
import { harness } from '../host/compat.js';
import { resultOf } from '../host/events.js';

/** The plugin's name in the source of a receipt. */
export const PLUGIN = 'rewind-prune';

/** Model-visible characters a token, where no meter is mounted. */
const CHARS_PER_TOKEN = 4;
/**
 * What `dsh-compaction-basic` puts around a summary: a preamble and two tags in blocks of their own. Only its
 * length matters, since a receipt is priced as it will stand.
 */
const FRAME = [' '.repeat(321), ' '.repeat(20)];

/**
 * Chooses the edits of a plan that are cheap enough, both sides of each priced by one estimator.
 *
 * @param plan - `PruneReceipts` of the core.
 * @param session - the session.
 * @param meter - `ctx.tokenMeter`, or undefined.
 * @param framed - whether full receipts will stand in compaction's frame.
 * @returns the edits in surface order, each `{ full, seqs, text, landed, shadowed }` with its token prices.
 */
export function affordable(plan, session, meter, framed) {
  const events = harness.events(session);
  const edits = plan.edits().map((edit) => ({
    ...edit,
    landed: priceOfLanded(edit, events, meter, framed),
    shadowed: meter
      ? priceOf(meter, session, edit.seqs, events)
      : estimated(edit.seqs.map((seq) => events[seq].data)),
  }));
  const admitted = plan.admit(
    edits.map(({ landed }) => landed),
    edits.map(({ shadowed }) => shadowed),
  );
  return admitted.map((at) => edits[at]);
}

function priceOfLanded({ full, seqs, text }, events, meter, framed) {
  const content = [{ type: 'text', text }];
  if (full) {
    const blocks = framed ? [textBlock(FRAME[0]), ...content, textBlock(FRAME[1])] : content;
    return meter ? meter.estimateMessage(receiptMessage(blocks, seqs)) : estimated(blocks);
  }
  return meter ? meter.estimateMessage(rewritten(events[seqs[0]], content)) : estimated(content);
}

function textBlock(text) {
  return { type: 'text', text };
}

function estimated(value) {
  return Math.ceil(JSON.stringify(value).length / CHARS_PER_TOKEN);
}

function rewritten(event, content) {
  const { message } = event.data;
  const [block] = message.content;
  return { ...message, content: block?.type === 'tool-result' ? [{ ...block, content }] : content };
}

function receiptMessage(content, seqs) {
  return createUserMessage({ content, source: sourceOf(seqs) });
}

/** What tells a receipt from anybody's words, also after a restart. */
function sourceOf(seqs) {
  return { kind: 'plugin', plugin: PLUGIN, receipt: 1, range: { start: seqs[0], end: seqs.at(-1) }, seqs };
}

/**
 * Lands one edit directly.
 *
 * @param session - the session; its lock is held, and a turn is open for the receipt of a single body.
 * @param edit - an edit of {@link affordable}.
 * @param meter - `ctx.tokenMeter`, or undefined.
 */
export function landReceipt(session, { full, seqs, text, shadowed }, meter) {
  const tokens = meter ? shadowed : undefined;
  if (full) {
    landMessage(session, { seqs, message: { content: [textBlock(text)], source: sourceOf(seqs) }, tokens });
  } else {
    landContent(session, { seq: seqs[0], content: [textBlock(text)], tokens });
  }
}

/**
 * @param session - the session.
 * @param seqs - nodes of its surface.
 * @returns the text of the results among them, in UTF-16 units.
 */
export function resultChars(session, seqs) {
  const events = harness.events(session);
  const texts = seqs
    .map((seq) => events[seq])
    .filter(({ type }) => type === 'tool/result')
    .flatMap((event) => resultOf(event).blocks)
    .filter(({ type }) => type === 'text');
  return texts.reduce((sum, { text }) => sum + text.length, 0);
}

/**
 * @param session - the session.
 * @param seqs - a run of nodes that was planned earlier.
 * @returns whether it still stands, side by side and in order.
 */
export function stands(session, seqs) {
  const { nodes } = session.surface;
  const first = nodes.indexOf(seqs[0]);
  return first !== -1 && seqs.every((seq, at) => nodes[first + at] === seq);
}
