/** `npm run bench`: the measurements of `benches/`, with the garbage collector at hand; see `benches/run.js`. */
import { prepare, runNode } from './lib/prepare.js';
import { main } from './lib/process.js';

await main(() => {
  prepare();
  runNode(['--expose-gc', 'benches/run.js', ...process.argv.slice(2)]);
});
