/**
 * `npm test`: the Rust tests of the pure core and of the binding, then the tests on the real harness.
 * `npm test -- FILE...` runs the named test files alone.
 */
import { prepare, runNode } from './lib/prepare.js';
import { main, run } from './lib/process.js';
import { ROOT, environment } from './lib/project.js';

/** Each end-to-end test starts whole CLI processes; more than two at once only make one another late. */
const CONCURRENCY = 2;
/** Far above any honest run, so that a test that hangs fails instead of hanging the command. */
const TIMEOUT_MS = 300_000;

function cargoTest(...args) {
  run('cargo', ['test', '--locked', '--quiet', ...args], { cwd: ROOT, env: environment() });
}

await main(() => {
  const chosen = process.argv.slice(2);
  prepare();
  if (chosen.length === 0) {
    cargoTest('--no-default-features');
    cargoTest();
  }
  runNode([
    '--test', '--test-reporter=spec', `--test-concurrency=${CONCURRENCY}`, `--test-timeout=${TIMEOUT_MS}`,
    ...(chosen.length > 0 ? chosen : ['__test__/**/*.test.js']),
  ]);
});
