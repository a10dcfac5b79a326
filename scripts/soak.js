/** `npm run soak`: what 5,000 folds keep in memory; see `benches/soak.js`. */
import { prepare, runNode } from './lib/prepare.js';
import { main } from './lib/process.js';

await main(() => {
  prepare();
  runNode(['benches/run.js', '--only', 'soak', ...process.argv.slice(2)]);
});
