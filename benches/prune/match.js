/** Two policies made to free the same, so that only their choice differs. */
import { NOTHING, replay, rulesInstead, stock } from './replay.js';

/**
 * What the two may differ in freed tokens: a share, or the price of a marker or two in very small sessions.
 */
const TOLERANCE = 0.05;
const SMALL = 64;
/** Windows, as shares of what the whole session weighs: filled once at the end, earlier, and half way. */
export const WINDOWS = [1, 0.75, 0.5];
const BUDGETS = [1, 0.5, 0.25, 0.12, 0.06];
const HALVINGS = 12;

const near = (a, b) => Math.abs(a - b) <= Math.max(TOLERANCE * Math.max(a, b), SMALL);

/**
 * The rules at the moments of the stock pruner: first a budget is looked for that frees what the stock pruner
 * does as it comes; where none does, the stock pruner's lengths are scaled to free what the nearest budget
 * did.
 *
 * @param rows - a recorded session.
 * @param share - the window, as a share of what the session weighs.
 * @returns a promise of `{ window, stock, rules, scale, matched }`, each outcome with the tokens and
 *   characters it `freed`.
 */
export async function matched(rows, share) {
  const whole = await replay(rows, NOTHING, Number.MAX_SAFE_INTEGER);
  const window = Math.round(whole.tokens * share);
  const run = async (policy) => {
    const outcome = await replay(rows, policy, window);
    return { ...outcome, freed: whole.tokens - outcome.tokens, freedChars: whole.chars - outcome.chars };
  };
  const asItComes = await run(stock());
  let rules;
  for (const budget of BUDGETS) {
    const outcome = await run(rulesInstead(budget));
    const distance = (one) => Math.abs(one.freed - asItComes.freed);
    if (rules === undefined || distance(outcome) < distance(rules)) rules = outcome;
    if (near(rules.freed, asItComes.freed) || outcome.freed < asItComes.freed) break;
  }
  const facts = { window, whole, rules };
  if (near(rules.freed, asItComes.freed)) return { ...facts, stock: asItComes, scale: 1, matched: true };
  let [more, less] = [0.02, 16];
  let best = { outcome: asItComes, scale: 1 };
  for (let round = 0; round < HALVINGS && !near(best.outcome.freed, rules.freed); round += 1) {
    const scale = Math.sqrt(more * less);
    const outcome = await run(stock(scale));
    if (Math.abs(outcome.freed - rules.freed) < Math.abs(best.outcome.freed - rules.freed))
      best = { outcome, scale };
    if (outcome.freed > rules.freed) more = scale;
    else less = scale;
  }
  return { ...facts, stock: best.outcome, scale: best.scale, matched: near(best.outcome.freed, rules.freed) };
}
