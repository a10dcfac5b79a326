/** One run over explorations: folds each on four arms and keeps counts, pooled. */
import { LAZY, inventing } from './prose.js';
import { flagged, probesOf, stands, survives, textOf } from './probes.js';

export const ARMS = ['ideal', 'lazy', 'inventing', 'receipt'];
export const KINDS = ['path', 'command', 'error', 'person'];

const ratio = (part, whole) => (whole === 0 ? undefined : part / whole);

/** Counts of one pool of explorations. */
export class Tally {
  folds = 0;
  refused = 0;
  recall = Object.fromEntries(ARMS.map((arm) => [arm, Object.fromEntries(KINDS.map((kind) => [kind, [0, 0]]))]));
  invented = { all: [0, 0], near: [0, 0] };
  alarms = [0, 0];
  tokens = Object.fromEntries(ARMS.map((arm) => [arm, { over3k: [0, 0], over20k: [0, 0] }]));
  cuts = Object.fromEntries(ARMS.map((arm) => [arm, []]));
  sizes = [];
  missed = [];

  addRecall(arm, probe, found) {
    const cell = this.recall[arm][probe.kind];
    cell[1] += 1;
    if (found) cell[0] += 1;
    else this.missed.push({ arm, ...probe });
  }

  addTokens(arm, { foldedTokens, reportTokens }) {
    this.cuts[arm].push(1 - reportTokens / foldedTokens);
    this.sizes.push(foldedTokens);
    for (const [name, least] of [['over3k', 3000], ['over20k', 20_000]]) {
      if (foldedTokens <= least) continue;
      this.tokens[arm][name][0] += 1 - reportTokens / foldedTokens;
      this.tokens[arm][name][1] += 1;
    }
  }

  /** @returns shares by name: `recall.<arm>.<kind>`, `flagged`, `flagged.near`, `alarms`, `cut.<arm>.<size>`. */
  shares() {
    const shares = { flagged: ratio(...this.invented.all), 'flagged.near': ratio(...this.invented.near), alarms: ratio(...this.alarms) };
    for (const arm of ARMS) {
      for (const kind of KINDS) shares[`recall.${arm}.${kind}`] = ratio(...this.recall[arm][kind]);
      // The mean over explorations: a sum of tokens would let a few large ones speak for all.
      for (const [size, cell] of Object.entries(this.tokens[arm])) shares[`cut.${arm}.${size}`] = ratio(...cell);
    }
    return shares;
  }
}

/** The text of an arm, undefined for the one without a model. */
function proseOf(arm, exploration, inventions) {
  if (arm === 'ideal') return exploration.prose.text;
  if (arm === 'inventing') return inventions.text;
  return arm === 'lazy' ? LAZY[exploration.language] : undefined;
}

/**
 * Folds one exploration on every arm.
 *
 * @param worlds - `{ model, receipt }`, mounted.
 * @param exploration - as `explorationOf` and `recordedExplorations` make it.
 * @param tally - what it is counted into.
 */
export async function measure(worlds, exploration, tally) {
  const { chance, language, prose } = exploration;
  let inventions;
  for (const arm of ARMS) {
    if (arm === 'inventing') {
      inventions = inventing(chance, prose, (text) => stands(text, exploration.seen), language);
    }
    let fold;
    try {
      fold = await worlds[arm === 'receipt' ? 'receipt' : 'model'].fold(exploration, proseOf(arm, exploration, inventions));
    } catch (error) {
      if (error.code !== 'SHRINK') throw error;
      tally.refused += 1;
      continue;
    }
    tally.folds += 1;
    exploration.seen = textOf(fold.before);
    const carried = textOf(fold.next);
    for (const probe of probesOf(fold.before)) tally.addRecall(arm, probe, survives(probe, carried));
    tally.addTokens(arm, fold.result);
    const items = flagged(carried);
    if (arm === 'ideal') {
      tally.alarms[0] += items.length;
      tally.alarms[1] += prose.facts;
      tally.missed.push(...items.map((text) => ({ arm: 'alarm', kind: 'alarm', text })));
    }
    if (arm !== 'inventing') continue;
    for (const { kind, text, near } of inventions.inventions) {
      const hit = items.includes(text);
      for (const cell of [tally.invented.all, ...(near ? [tally.invented.near] : [])]) {
        cell[1] += 1;
        if (hit) cell[0] += 1;
      }
      if (!hit) tally.missed.push({ arm: 'not flagged', kind, text });
    }
  }
}
