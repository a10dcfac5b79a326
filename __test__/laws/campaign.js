/** Many recipes in turn over several compositions, with failures shrunk and a seed to bring each one back. */
import { makeRecipe } from './generator.js';
import { caseSeed } from './random.js';
import { shrink } from './shrink.js';
import { playRecipe } from './trial.js';

/** A failure goes on being the same one while only its numbers differ. */
const kindOf = (breach) => breach?.replaceAll(/\d+/g, '#').slice(0, 120);

/**
 * Runs cases `part`, `part + parts`, ... of a campaign.
 *
 * @param compositions - `{ world, driver }` entries; case `i` is played in each `i % length`-th one.
 * @param options - `cases`, `seed`, `part` and `parts`; `most`: stop after that many failures;
 * `milliseconds`: stop then; `shrinkBudget`: recipes tried for one failure.
 * @returns a promise of `{ played, tally, failures }`; a failure is `{ index, seed, ops, breaches }`.
 */
export async function runCampaign(compositions, options) {
  const { cases, seed, part = 0, parts = 1, most = 3, milliseconds = Infinity, shrinkBudget = 300 } = options;
  const tally = {};
  const failures = [];
  const end = performance.now() + milliseconds;
  let played = 0;
  let sessions = 0;
  for (let index = part; index < cases && failures.length < most && performance.now() < end; index += parts) {
    const { world, driver } = compositions[index % compositions.length];
    const own = caseSeed(seed, index);
    const play = (ops) => playRecipe(world, driver, ops, `s${part}-${(sessions += 1)}`);
    const ops = makeRecipe(own);
    const { breaches, tally: met } = await play(ops);
    played += 1;
    for (const [outcome, count] of Object.entries(met)) tally[outcome] = (tally[outcome] ?? 0) + count;
    if (breaches.length === 0) continue;
    const kind = kindOf(breaches[0].replace(/^op \d+/, ''));
    const same = async (tried) => kindOf((await play(tried)).breaches[0]?.replace(/^op \d+/, '')) === kind;
    const small = await shrink(ops, same, shrinkBudget);
    const again = await play(small);
    failures.push({
      index,
      seed: own,
      ops: small,
      breaches: again.breaches.length > 0 ? again.breaches : breaches,
    });
  }
  return { played, tally, failures };
}

/**
 * @param failure - one failure of a campaign.
 * @param seed - the seed of the campaign.
 * @returns what a person needs to see it again.
 */
export function describe({ index, ops, breaches }, seed) {
  return [
    `case ${index} of seed ${seed} breaks a law; again: npm run laws -- --seed ${seed} --only ${index}`,
    ...breaches.slice(0, 6).map((breach) => `  ${breach}`),
    '  recipe, as small as it came:',
    ...ops.map((op) => `    ${JSON.stringify(op)},`),
  ].join('\n');
}
