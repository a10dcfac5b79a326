/** What must be reached on the pooled synthetic explorations, and the table that says whether it was. */
import { ARMS, KINDS } from './measure.js';

/** Targets by share name: at least, or below. */
export const TARGETS = [
  ...ARMS.flatMap((arm) => KINDS.map((kind) => ({ name: `recall.${arm}.${kind}`, least: 0.95 }))),
  ...ARMS.flatMap((arm) => [{ name: `cut.${arm}.over20k`, least: 0.9 }, { name: `cut.${arm}.over3k`, least: 0.7 }]),
  { name: 'flagged', least: 0.95 },
  { name: 'alarms', below: 0.02 },
];

/** @returns the targets that were missed, each as a sentence. */
export function misses(shares) {
  return TARGETS.flatMap(({ name, least, below }) => {
    const share = shares[name];
    if (share === undefined) return [`${name} was not measured`];
    const reached = least === undefined ? share < below : share >= least;
    return reached ? [] : [`${name} is ${percent(share)}, wanted ${least === undefined ? `under ${percent(below)}` : `at least ${percent(least)}`}`];
  });
}

/** @returns a share for a table. */
export function percent(share) {
  return share === undefined ? '-' : `${(share * 100).toFixed(1)} %`;
}

const HEADS = { ideal: 'ideal report', lazy: 'two lazy lines', inventing: 'inventing report', receipt: 'receipt, no model' };
const ROWS = [
  ['paths of calls', (arm) => `recall.${arm}.path`], ['commands with outcome', (arm) => `recall.${arm}.command`],
  ['error lines', (arm) => `recall.${arm}.error`], ["persons' words", (arm) => `recall.${arm}.person`],
  ['tokens cut, above 3k', (arm) => `cut.${arm}.over3k`], ['tokens cut, above 20k', (arm) => `cut.${arm}.over20k`],
];

/** @returns the table of a pool in Markdown. */
export function table(shares) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(['', ...ARMS.map((arm) => HEADS[arm])]),
    line(['---', ...ARMS.map(() => '---')]),
    ...ROWS.map(([label, nameOf]) => line([label, ...ARMS.map((arm) => percent(shares[nameOf(arm)]))])),
    line(['inventions flagged (near misses)', '', '', `${percent(shares.flagged)} (${percent(shares['flagged.near'])})`, '']),
    line(['false alarms', percent(shares.alarms), '', '', '']),
  ].join('\n');
}

const average = (numbers) => (numbers.length === 0 ? undefined : numbers.reduce((sum, one) => sum + one, 0) / numbers.length);

/** @returns a table with a row for each recorded exploration; recall is that of the arm that keeps least. */
export function listing(rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(['exploration', 'calls', 'tokens', 'paths', 'commands', 'errors', 'cut, receipt', 'cut, prose', 'inventions flagged', "flagged in the model's own words"]),
    line(Array.from({ length: 10 }, () => '---')),
    ...rows.map(({ exploration: { from, calls, prose, said }, tally }) => {
      const shares = tally.shares();
      const least = (kind) => {
        const found = ARMS.map((arm) => shares[`recall.${arm}.${kind}`]).filter((share) => share !== undefined);
        return found.length === 0 ? '-' : percent(Math.min(...found));
      };
      const { ideal, receipt } = tally.cuts;
      return line([from, calls, Math.round(average(tally.sizes) ?? 0), least('path'), least('command'), least('error'),
        percent(average(receipt)), percent(average(ideal)), percent(shares.flagged), said ? `${tally.alarms[0]} of ${prose.facts}` : '-']);
    }),
  ].join('\n');
}
