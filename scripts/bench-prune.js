/** `npm run bench:prune`: judged pruning measured, see `benches/prune/run.js`. */
import { prepare, runNode } from './lib/prepare.js';
import { main } from './lib/process.js';

await main(() => {
  prepare();
  runNode(['benches/prune/run.js', ...process.argv.slice(2)]);
});
