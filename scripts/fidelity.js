/**
 * `npm run fidelity`: how much survives a fold, and how much of what a report invents is called out. A missed
 * target fails; `__test__/fidelity/run.js` says what else it takes.
 */
import { prepare, runNode } from './lib/prepare.js';
import { main } from './lib/process.js';

await main(() => {
  prepare();
  runNode(['--expose-gc', '__test__/fidelity/run.js', ...process.argv.slice(2)]);
});
