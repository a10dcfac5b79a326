/**
 * Recorded sessions that are not part of the repository. Tests that want them look here: the folder is named
 * by `TOOL_REWIND_DATA`, else it is `shared/data` beside the checkout. Where it is absent such a test is
 * skipped by name, and the runner counts it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'node:test';

const CHECKOUT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The folder of recorded sessions, undefined where there is none. */
export const dataRoot = [process.env.TOOL_REWIND_DATA, join(CHECKOUT, '..', 'shared', 'data')]
  .filter(Boolean).map((path) => resolve(path)).find(existsSync);

/**
 * @param set - the folder of one set, `dsh` or `trajectories`.
 * @returns its sessions as `{ name, rows() }`, sorted by name; `rows` are the lines of the log as they stand:
 * the header first, runs of chunks packed. Empty where the data is absent.
 */
export function sessions(set) {
  const folder = dataRoot && join(dataRoot, set);
  if (!folder || !existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => name.endsWith('.jsonl')).toSorted().map((name) => ({
    name,
    rows: () => readFileSync(join(folder, name), 'utf8').split('\n')
      .filter(Boolean).map((line) => JSON.parse(line)),
  }));
}

/**
 * Registers a test that needs recorded sessions, or a named skip.
 *
 * @param name - the test's name.
 * @param body - the test, as `node:test` takes it.
 */
export function testWithData(name, body) {
  const absent = 'recorded sessions not found: set TOOL_REWIND_DATA to their folder';
  test(name, { skip: dataRoot ? false : absent }, body);
}
