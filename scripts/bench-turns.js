/** `npm run bench:turns`: turn memory measured, see `benches/turns/run.js`. */
import { prepare, runNode } from './lib/prepare.js';
import { main } from './lib/process.js';

await main(() => {
  prepare();
  runNode(['benches/turns/run.js', ...process.argv.slice(2)]);
});
