/** `npm run experience`: what a fold costs and saves in tokens, in the real CLI; see `benches/experience.js`. */
import { prepare, runNode } from './lib/prepare.js';
import { main } from './lib/process.js';

await main(() => {
  prepare();
  runNode(['benches/experience.js']);
});
