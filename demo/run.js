/** `npm run demo`: brings what is missing, then shows one fold in the real CLI. */
import { prepare, runNode } from '../scripts/lib/prepare.js';
import { main } from '../scripts/lib/process.js';

await main(() => {
  prepare();
  runNode(['demo/fold.js']);
});
