/**
 * `npm run laws -- --cases N --seed S`: the laws of a fold on N generated sessions; `__test__/laws/run.js` says
 * what else it takes.
 */
import { prepare, runNode } from './lib/prepare.js';
import { main } from './lib/process.js';

await main(() => {
  prepare();
  runNode(['__test__/laws/run.js', ...process.argv.slice(2)]);
});
