/** Runs `dsh-rewind` as a person does: a process of its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packChunkRuns } from '@deepseek-ai/dsh-session';

const BIN = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'dsh-rewind.js');

/**
 * @param args - the arguments.
 * @returns `{ code, stdout, stderr }`.
 */
export function dshRewind(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    encoding: 'utf8', maxBuffer: 1 << 28,
  });
  return { code: status, stdout, stderr };
}

/**
 * @param paths - logs and folders.
 * @returns `{ code, audits, stderr }`, the audits in the order in which they were made.
 */
export function auditOf(...paths) {
  const { code, stdout, stderr } = dshRewind('audit', '--json', ...paths);
  return { code, stderr, audits: stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line)) };
}

/**
 * @param t - the test, at whose end the folder goes.
 * @returns a folder of its own.
 */
export function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-rewind-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Writes a session as the harness's own persistence does.
 *
 * @param path - the file.
 * @param session - the session.
 */
export function writeSession(path, { header, events }) {
  const rows = [{ type: 'session', ...header, delegationDepth: header.delegationDepth ?? 0 }, ...packChunkRuns(events)];
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}
