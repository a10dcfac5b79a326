/** Small readings of what a fold knows. */
import { priceOf } from '../host/commit.js';
import { charsOf } from '../host/surface.js';
import { priceOfDrafts } from './landing.js';

/** @returns the fields of an object that have a value. */
export function defined(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * Adds up the usage of several attempts: what the report cost, not only what its last attempt cost. A provider's
 * counts go into the log, so what is no count is left out.
 */
export function addUsage(total, usage) {
  const counts = Object.entries(usage ?? {}).filter(([, value]) => isCount(value));
  if (counts.length === 0) return total;
  const sum = { ...total };
  for (const [key, value] of counts) sum[key] = (sum[key] ?? 0) + value;
  return sum;
}

/** @returns whether a value can be a number of tokens. */
export function isCount(value) {
  return Number.isSafeInteger(value) && value >= 0;
}

/**
 * Counts a fold of which only a part landed, so that its numbers are those of the log (docs/rewind.md 3.3).
 *
 * @param fold - the fold, with what landed.
 * @param meter - `ctx.tokenMeter`, or undefined.
 * @param events - the log snapshot.
 * @returns the fold's fields that differ from the plan's.
 */
export function recount({ session, folded, landed }, meter, events) {
  const gone = new Set(landed.folded);
  const order = folded.filter((seq) => gone.has(seq));
  return {
    part: { foldedNodes: order.length, start: order[0], end: order.at(-1), foldedChars: charsOf(session, order) },
    foldedTokens: priceOf(meter, session, order, events),
    reportChars: landed.drafts.reduce((sum, { content }) => sum + content[0].text.length, 0),
    reportTokens: priceOfDrafts(meter, landed.drafts),
  };
}

/**
 * Says what a person and the model have to know of a fold that stands.
 *
 * @param fold - the fold.
 * @param stamped - whether the checkpoint service knows of it.
 * @returns the sentences, none where all went as planned.
 */
export function warningsOf({ landed: { failure, folded }, planned, whyReceipt, stampFailure }, stamped) {
  return [
    whyReceipt && `The model gave no report (${whyReceipt}), so code alone made this one.`,
    failure && `Part of the fold could not land (${failure.message}): ${folded.length} of ${planned.foldedNodes} `
      + 'nodes are folded, the rest stays as it is.',
    !stamped && `The checkpoint service ${stampFailure}; the report stands and the mark counts as folded all the same.`,
  ].filter(Boolean);
}
