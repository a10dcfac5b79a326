/**
 * `npm run check`: formatting, lints, types and the rules of the house. Nothing is repaired, only reported.
 */
import { prepare, runNode } from './lib/prepare.js';
import { main, run } from './lib/process.js';
import { ROOT, environment } from './lib/project.js';

function check(command, ...args) {
  run(command, args, { cwd: ROOT, env: environment() });
}

await main(() => {
  prepare();
  check('cargo', 'fmt', '--check');
  check('cargo', 'fmt', '--manifest-path', 'fuzz/Cargo.toml', '--check');
  for (const features of [['--no-default-features'], []]) {
    check('cargo', 'clippy', '--locked', '--quiet', '--all-targets', ...features, '--', '-D', 'warnings');
  }
  run('cargo', ['doc', '--locked', '--quiet', '--no-deps'], {
    cwd: ROOT, env: environment({ RUSTDOCFLAGS: '-D warnings' }),
  });
  check('oxlint', '--deny-warnings');
  check('knip', '--no-progress');
  check('tsc', '--project', '__test__/types');
  runNode(['scripts/docs.js', '--inside', '--check']);
  runNode(['--test', '--test-reporter=dot', '__test__/house.test.js']);
});
