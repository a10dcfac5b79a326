/** The heartbeat file: what the plugin saw and did, for a person or a program beside the harness. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pathInHome } from '../host/home.js';

/**
 * Opens the file of one plugin instance.
 *
 * @param file - the configured path; relative to `$DSH_HOME`; empty for none.
 * @param log - where a failed write is said, once a reason.
 * @returns `beat(id, entry)`, which merges the entry of one agent into the file; it never throws and never
 *   waits.
 */
export function heartbeat(file, log) {
  if (file === '') return () => {};
  const path = pathInHome(file);
  let writing = Promise.resolve();
  let waiting;
  const write = async () => {
    const entries = waiting;
    waiting = undefined;
    try {
      const before = await known(path);
      const next = {
        ...before,
        updatedAt: new Date().toISOString(),
        agents: { ...before.agents, ...Object.fromEntries(entries) },
      };
      await mkdir(dirname(path), { recursive: true });
      // A reader never sees half a file.
      const part = `${path}.${process.pid}.tmp`;
      await writeFile(part, `${JSON.stringify(next, null, 2)}\n`);
      await rename(part, path);
    } catch (error) {
      log.once(`heartbeat ${error.code}`, `the heartbeat file could not be written: ${error.message}`);
    }
  };
  return (id, entry) => {
    const idle = waiting === undefined;
    waiting = (waiting ?? new Map()).set(id, entry);
    if (idle) writing = writing.then(write);
  };
}

async function known(path) {
  try {
    const value = JSON.parse(await readFile(path, 'utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
