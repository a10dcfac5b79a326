/** Where things stand in the checkout, and the environment that every child process gets. */
import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { platformTriple } from '../../plugin/platform.js';

/** The major version of Node that the harness is run with. */
export const NODE_MAJOR = 24;

/** The checkout. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** What the commands bring along for themselves; never a dependency of the package. */
export const TOOLS = join(ROOT, '.tools');

/** The addon of this platform, where the loader looks for it. */
export const ADDON = join(ROOT, `tool-rewind.${platformTriple()}.node`);

/** The npm package that holds Node for this platform. */
export const NODE_PACKAGE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** Whether to run with this process's own Node: where it is right, or where a test matrix asks for it. */
export const OWN_NODE = Number.parseInt(process.versions.node, 10) === NODE_MAJOR
  || process.env.TOOL_REWIND_OWN_NODE === '1';

/** The folder of the Node to run with: this process's own or the one in `.tools/`. */
export function nodeFolder() {
  if (OWN_NODE) return dirname(process.execPath);
  const home = join(TOOLS, 'node_modules', NODE_PACKAGE);
  return existsSync(join(home, 'node.exe')) ? home : join(home, 'bin');
}

/** @returns the Node program to run with. */
export function nodeProgram() {
  return join(nodeFolder(), process.platform === 'win32' ? 'node.exe' : 'node');
}

/**
 * @param more - further variables.
 * @returns the environment for child processes: Node 24 first on the PATH, then the tools, then the package's
 * own.
 */
export function environment(more = {}) {
  const path = Object.keys(process.env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  const first = [nodeFolder(), join(TOOLS, 'node_modules', '.bin'), join(ROOT, 'node_modules', '.bin')];
  return { ...process.env, [path]: [...first, process.env[path]].join(delimiter), ...more };
}
