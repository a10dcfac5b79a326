/**
 * Brings what is missing, so that each command works right after a clone: package manager, Node,
 * dependencies, addon. What is there already is left alone.
 */
import {
  copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { CommandFailed, run } from './process.js';
import { ADDON, NODE_PACKAGE, OWN_NODE, ROOT, TOOLS, environment, nodeProgram } from './project.js';

const PNPM = '10.34.9';
const NODE = '24.22.3';

/** What cargo reads; the addon is rebuilt when one of these is newer. */
const RUST_SOURCES = ['src', 'Cargo.toml', 'Cargo.lock', 'build.rs'];
const LIBRARIES = { darwin: 'libtool_rewind.dylib', win32: 'tool_rewind.dll' };
const LIBRARY = LIBRARIES[process.platform] ?? 'libtool_rewind.so';

function installedVersion(name) {
  const manifest = join(TOOLS, 'node_modules', name, 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}

/**
 * Installs the package manager, and Node where this process's own is another major version, into `.tools/`.
 */
export function prepareTools() {
  const wanted = { pnpm: PNPM };
  if (!OWN_NODE) wanted[NODE_PACKAGE] = NODE;
  if (Object.entries(wanted).every(([name, version]) => installedVersion(name) === version)) return;

  const specs = Object.entries(wanted).map(([name, version]) => `${name}@${version}`);
  console.error(`Installing ${specs.join(' and ')} into .tools/`);
  mkdirSync(TOOLS, { recursive: true });
  writeFileSync(join(TOOLS, 'package.json'), '{ "private": true }\n');
  // A run inside `npm run` inherits settings that point at the checkout; the prefix must win over them.
  run('npm', ['install', '--prefix', TOOLS, '--ignore-scripts', '--no-audit', '--no-fund', ...specs], {
    cwd: TOOLS, quiet: true,
  });
}

/**
 * Installs the dependencies exactly as locked, and anew when the lock has changed: an install over an older
 * one leaves out what moved from the package's own dependencies to those of others, and the CLI does not boot
 * then.
 */
export function prepareDependencies() {
  const modules = join(ROOT, 'node_modules');
  const stamp = join(modules, '.installed-lock');
  const lock = readFileSync(join(ROOT, 'pnpm-lock.yaml'), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;

  console.error('Installing dependencies');
  rmSync(modules, { recursive: true, force: true });
  run('pnpm', ['install', '--frozen-lockfile', '--ignore-scripts'], {
    cwd: ROOT, quiet: true, env: environment({ CI: 'true' }),
  });
  writeFileSync(stamp, lock);
}

function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Builds the Rust core for this platform, if its sources are newer than the addon. */
export function prepareAddon() {
  const started = Date.now();
  const changed = Math.max(...RUST_SOURCES.map((name) => newest(join(ROOT, name))));
  if (existsSync(ADDON) && statSync(ADDON).mtimeMs > changed) return;

  console.error('Building the native core');
  try {
    run('cargo', ['build', '--release', '--locked', '--target-dir', join(ROOT, 'target')], {
      cwd: ROOT, env: environment(),
    });
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    throw new Error(
      'The native core is built with cargo, which was not found: install Rust from https://rustup.rs',
      { cause: error },
    );
  }
  // Renamed into place, because overwriting a library that a running process has loaded would crash it.
  const fresh = `${ADDON}.${process.pid}`;
  copyFileSync(join(ROOT, 'target', 'release', LIBRARY), fresh);
  renameSync(fresh, ADDON);
  console.error(`Built ${ADDON.slice(ROOT.length + 1)} in ${Math.round((Date.now() - started) / 1000)} s`);
}

/** Everything that the tests and the demo need. */
export function prepare() {
  prepareTools();
  prepareDependencies();
  prepareAddon();
}

/**
 * Runs a script of the checkout with Node 24.
 *
 * @param args - arguments to Node, the script first.
 */
export function runNode(args) {
  run(nodeProgram(), args, { cwd: ROOT, env: environment() });
}
