/**
 * `npm run fidelity`: how much of an exploration survives its fold, and how much of what a report invents is
 * called out. The synthetic explorations are pooled and held to the targets; recorded ones are listed apart.
 *
 *   --cases N     how many synthetic explorations (default 240)
 *   --seed S      the seed of the run (default 20260)
 *   --misses      print what was lost, not flagged, or wrongly flagged
 */
import { parseArgs } from 'node:util';
import { dataRoot } from '../support/data.js';
import { explorationOf } from './explorations.js';
import { Tally, measure } from './measure.js';
import { recordedExplorations } from './real.js';
import { speedMisses, speedTable } from './speed.js';
import { listing, misses, table } from './targets.js';
import { mountWorld } from './world.js';

const print = (text) => process.stdout.write(`${text}\n`);

const { values } = parseArgs({ options: { cases: { type: 'string' }, seed: { type: 'string' }, misses: { type: 'boolean' } } });
const cases = Number(values.cases ?? 240);
const seed = Number(values.seed ?? 20_260);
const worlds = { model: await mountWorld({ maxTokens: 4096 }), receipt: await mountWorld({ report: 'receipt' }) };

async function synthetic() {
  const started = performance.now();
  const pooled = new Tally();
  for (let index = 0; index < cases; index += 1) await measure(worlds, explorationOf(seed, index), pooled);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  print(`${cases} synthetic explorations of seed ${seed}: ${pooled.folds} folds in ${seconds} s, `
    + `${pooled.refused} refused as too small\n\n${table(pooled.shares())}\n`);
  if (values.misses) for (const miss of pooled.missed) print(JSON.stringify(miss));
  return misses(pooled.shares());
}

async function recorded() {
  if (!dataRoot) {
    print('recorded explorations: skipped, recorded sessions not found (set TOOL_REWIND_DATA to their folder)\n');
    return;
  }
  const rows = [];
  for (const exploration of recordedExplorations()) {
    const tally = new Tally();
    await measure(worlds, exploration, tally);
    rows.push({ exploration, tally });
    if (values.misses) for (const miss of tally.missed) print(`${exploration.from} ${JSON.stringify(miss)}`);
  }
  print(`${rows.length} recorded read-only explorations of at least 5 calls; the prose is what the model itself said next\n\n`
    + `${listing(rows)}\n`);
}

const failed = await synthetic();
await recorded();
for (const world of Object.values(worlds)) await world.dispose();
const speed = await speedTable();
print(speed.text);
failed.push(...speedMisses(speed));
for (const miss of failed) process.stderr.write(`target missed: ${miss}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
