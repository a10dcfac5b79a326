/**
 * The fuzz targets: libFuzzer linked in, the coverage it steers by compiled in. These are the flags that
 * `cargo fuzz` gives, without the sanitizer, which needs a nightly compiler and finds nothing in safe code.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './process.js';
import { ROOT, environment } from './project.js';

const FUZZ = join(ROOT, 'fuzz');
const BUILD = join(ROOT, 'target', 'fuzz');

const COVERAGE = [
  '-Cpasses=sancov-module',
  '-Cllvm-args=-sanitizer-coverage-level=4',
  '-Cllvm-args=-sanitizer-coverage-inline-8bit-counters',
  '-Cllvm-args=-sanitizer-coverage-pc-table',
  '-Cllvm-args=-sanitizer-coverage-trace-compares',
  '--cfg', 'fuzzing',
];

/** @returns the targets' names, as the crate has them. */
export function fuzzTargets() {
  return readdirSync(join(FUZZ, 'fuzz_targets')).map((file) => file.replace(/\.rs$/, '')).toSorted();
}

/** The triple of this machine: named, it keeps build scripts free of the coverage that only targets can bear. */
function hostTriple() {
  const { stdout, error } = spawnSync('cargo', ['-vV'], { encoding: 'utf8', env: environment() });
  if (error) throw new Error('cargo was not found: install Rust from https://rustup.rs', { cause: error });
  return /^host: (.+)$/m.exec(stdout)[1];
}

/**
 * Builds the targets.
 *
 * @returns the folder of their programs.
 */
export function buildFuzz() {
  const triple = hostTriple();
  run('cargo', ['build', '--release', '--locked', '--quiet', '--target', triple, '--target-dir', BUILD], {
    cwd: FUZZ, env: environment({ RUSTFLAGS: COVERAGE.join(' ') }),
  });
  return join(BUILD, triple, 'release');
}

/**
 * Runs one target from its seeds on. What it learns is kept in `target/`, and used the next time.
 *
 * @param folder - the programs, as `buildFuzz` returns them.
 * @param target - the target's name.
 * @param seconds - how long.
 * @throws CommandFailed where an input crashes it, takes ten seconds or 512 MB; the input is kept and named.
 */
export function fuzz(folder, target, seconds) {
  const learned = join(BUILD, 'corpus', target);
  const found = join(BUILD, 'found');
  for (const path of [learned, found]) mkdirSync(path, { recursive: true });
  run(join(folder, target), [
    `-max_total_time=${seconds}`, '-timeout=10', '-rss_limit_mb=512', '-print_final_stats=1', '-verbosity=0',
    `-artifact_prefix=${join(found, `${target}-`)}`, learned, join(FUZZ, 'corpus', target),
  ], { cwd: ROOT });
}

/**
 * Plays one input again.
 *
 * @param folder - the programs.
 * @param target - the target's name.
 * @param file - the input.
 */
export function replay(folder, target, file) {
  if (!existsSync(file)) throw new Error(`${file}: no such input`);
  console.log(JSON.stringify(readFileSync(file, 'latin1')));
  run(join(folder, target), ['-timeout=10', file], { cwd: ROOT });
}
