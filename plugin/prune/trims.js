/**
 * Layer 1: results cut at `toolResultPruner.pruneSession`. The core plans; here the plan is landed, one
 * result after the other (docs/prune.md 3.5).
 */
import { landContent, priceOf } from '../host/commit.js';
import { harness } from '../host/compat.js';
import { resultOf } from '../host/events.js';

/**
 * Lands a plan of layer 1 in surface order. If a landing throws, earlier ones stay and count, the rest is left.
 *
 * @param session - the session; its lock is held and a turn is open.
 * @param plan - `PruneTrims` of the core.
 * @param pruner - the stock pruner, whose own rule decides for results that nobody judged.
 * @param meter - `ctx.tokenMeter`, or undefined.
 * @param overflow - whether protection yields: kept results then follow the stock rule too.
 * @returns the pruner's own answer; `byVerdict` and `byVolume`, how many were cut for which reason; and the
 *   `error` that ended it early, if one did.
 */
export function landTrims(session, plan, pruner, meter, overflow) {
  const cuts = new Map(plan.cuts.map((cut) => [cut.seq, cut]));
  const stock = new Set(plan.stock);
  const done = { pruned: [], charsRemoved: 0, byVerdict: 0, byVolume: 0 };
  const land = (seq, content, chars) => {
    const { callId, blocks } = resultOf(harness.eventAt(session, seq));
    const { before = pruner.measureContent(blocks), after = pruner.measureContent(content) } = chars ?? {};
    const tokens = priceOf(meter, session, [seq]);
    const { seq: replacementSeq } = landContent(session, { seq, content, tokens });
    done.pruned.push({ originalSeq: seq, replacementSeq, callId, charsBefore: before, charsAfter: after });
    done.charsRemoved += before - after;
  };
  const landStock = (seq) => {
    const content = pruner.pruneContent(resultOf(harness.eventAt(session, seq)).blocks);
    if (content === null) return;
    land(seq, content);
    done.byVolume += 1;
  };
  try {
    for (const seq of session.surface.nodes.slice()) {
      const cut = cuts.get(seq);
      if (cut !== undefined) {
        const { blocks } = resultOf(harness.eventAt(session, seq));
        land(seq, sliced(blocks, cut), { before: cut.charsBefore, after: cut.charsAfter });
        done.byVerdict += 1;
      } else if (stock.has(seq)) {
        landStock(seq);
      }
    }
    if (overflow) for (const seq of plan.kept) landStock(seq);
  } catch (error) {
    done.error = error;
  }
  return done;
}

/** The blocks that a cut leaves, their text taken from the original byte for byte. */
function sliced(blocks, { blocks: kept, marker }) {
  const left = new Map(kept.map((one) => [one.block, one]));
  return blocks.flatMap((block, at) => {
    const cut = left.get(at);
    if (cut === undefined) return [block];
    const middle = cut.marker ? marker : '';
    const text = block.text.slice(0, cut.headEnd) + middle + block.text.slice(cut.tailStart);
    // A provider takes no empty text block.
    return text === '' ? [] : [{ ...block, text }];
  });
}
