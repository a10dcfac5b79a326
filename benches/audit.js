/**
 * The audit of a 200 MB log beside a Node script that makes the same counts (`audit-baseline.js`): whole
 * processes, each with its own start. Runs of the arms take turns; of each the fastest counts, for a shared
 * machine only ever adds.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeLog } from './session-log.js';
import { markdown, times } from './table.js';

const BYTES = 200_000_000;
const RUNS = 5;
const TARGETS = { 1: 2, 2: 3.5 };
const MEMORY = 100 * 1024 * 1024;

function run(script, ...args) {
  const from = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, script), ...args], {
    encoding: 'utf8', maxBuffer: 1 << 28,
  });
  const ms = performance.now() - from;
  if (status !== 0) throw new Error(`${script} ended with ${status}: ${stderr}`);
  return { ms, stdout, stderr };
}

function plain(path) {
  const { ms, stdout } = run('audit-baseline.js', path);
  const { rss, counts } = JSON.parse(stdout);
  return { ms, rss, counts };
}

function ours(threads, path) {
  const { ms, stdout, stderr } = run('audit-arm.js', String(threads), path);
  const { lines, events, chunks, turns, requests, surface, replacements, shadowedPersons } = JSON.parse(stdout);
  return {
    ms,
    rss: JSON.parse(stderr).rss,
    counts: {
      lines, events, chunks, turns, requests: requests.count, refused: requests.refused,
      replacements: replacements.length, persons: shadowedPersons.length, ...surface,
    },
  };
}

/** @returns one row an arm: `{ arm, threads, megabytes, ms, rss }`. */
export function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'rewind-bench-'));
  try {
    const path = join(folder, 'session.jsonl');
    writeLog(path, BYTES);
    const arms = [
      { arm: 'Node script', threads: 1, run: () => plain(path) },
      { arm: 'dsh-rewind audit', threads: 1, run: () => ours(1, path) },
      { arm: 'dsh-rewind audit', threads: 2, run: () => ours(2, path) },
    ];
    const rows = arms.map(({ arm, threads }) => ({
      arm, threads, megabytes: statSync(path).size / 1e6, ms: Infinity, rss: 0,
    }));
    let counted;
    for (let round = 0; round < RUNS; round += 1) {
      for (const [index, arm] of arms.entries()) {
        const { ms, rss, counts } = arm.run();
        counted ??= JSON.stringify(counts);
        if (JSON.stringify(counts) !== counted) throw new Error('the arms do not count the same');
        rows[index].ms = Math.min(rows[index].ms, ms);
        rows[index].rss = Math.max(rows[index].rss, rss);
      }
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const faster = (rows, { ms }) => rows[0].ms / ms;

/** @returns the lines of the table. */
export function table(rows) {
  return [
    `Audit of a log of ${rows[0].megabytes.toFixed(0)} MB, fastest of ${RUNS} runs of each process`,
    '',
    ...markdown(['', 'threads', 'time', 'MB/s', 'faster', 'memory'], rows.map((row) => [
      row.arm, row.threads, `${row.ms.toFixed(0)} ms`, (row.megabytes / row.ms * 1000).toFixed(0),
      times(faster(rows, row)), `${(row.rss / 1024 / 1024).toFixed(0)} MB`,
    ])),
  ];
}

/** @returns a sentence for every target that was missed. */
export function missed(rows) {
  return rows.slice(1).flatMap((row) => {
    const factor = faster(rows, row);
    const wanted = TARGETS[row.threads];
    return [
      ...(factor < wanted ? [`${times(factor)} on ${row.threads} thread(s), wanted ${wanted}x`] : []),
      ...(row.rss > MEMORY ? [`${(row.rss / 1024 / 1024).toFixed(0)} MB of memory, wanted 100 MB`] : []),
    ];
  });
}
