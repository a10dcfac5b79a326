/** `npm run test:web`: the real web view in headless Chromium. Without a browser it skips, and says so. */
import { prepare, runNode } from './lib/prepare.js';
import { main } from './lib/process.js';

/** Far above any honest run, so that a page that never loads fails instead of hanging the command. */
const TIMEOUT_MS = 300_000;

await main(() => {
  prepare();
  runNode([
    '--test', '--test-reporter=spec', '--test-concurrency=1', `--test-timeout=${TIMEOUT_MS}`, '__test__/web/*.web.js',
  ]);
});
