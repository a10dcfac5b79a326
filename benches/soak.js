/**
 * What the package keeps: 5,000 folds over 50 live sessions against the same appends made without it, each in
 * processes of their own, in turn. Resident memory may grow by at most 5 MB more; listeners, locks and
 * handles are back where they were.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from './clock.js';
import { markdown } from './table.js';

const FOLDS = 5000;
const SESSIONS = 50;
/** Of each arm: one alone is 2 MB more or less, by where the allocator's free memory happens to lie. */
const RUNS = 5;
const ARM = fileURLToPath(new URL('soak-arm.js', import.meta.url));

/** Most bytes by which memory may grow beyond the other arm. */
const ALLOWANCE = 5 * 1024 * 1024;

function runArm(arm, folds) {
  const args = ['--expose-gc', ARM, arm, String(folds), String(SESSIONS)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the soak's arm "${arm}" ended with ${status}:\n${stderr}`);
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

/**
 * Runs both arms in turn.
 *
 * @param options - `folds` and `runs`: how many, of each arm.
 * @returns the rows: `growth` in bytes of each arm (medians), and what was `left` behind by the package.
 */
export function measure({ folds = FOLDS, runs = RUNS } = {}) {
  const arms = { with: [], without: [] };
  for (let run = 0; run < runs; run += 1) {
    for (const arm of Object.keys(arms)) arms[arm].push(runArm(arm, folds));
  }
  const growth = (arm) => median(arms[arm].map((one) => one.growth));
  const left = arms.with.flatMap((one) => one.left);
  const found = [...new Set(left)];
  return { folds, sessions: SESSIONS, with: growth('with'), without: growth('without'), left: found };
}

const megabytes = (bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

/**
 * @param rows - as `measure` returns them.
 * @returns the lines of their table.
 */
export function table(rows) {
  return markdown(['soak', 'without the package', 'with it', 'more', 'target'], [[
    `${rows.folds} folds, ${rows.sessions} sessions`, megabytes(rows.without), megabytes(rows.with),
    megabytes(rows.with - rows.without), `at most ${megabytes(ALLOWANCE)}`,
  ]]);
}

/**
 * @param rows - as `measure` returns them.
 * @returns a sentence for each target that is missed.
 */
export function missed(rows) {
  const more = rows.with - rows.without;
  return [
    ...(more > ALLOWANCE ? [`memory grew by ${megabytes(more)} more than without the package`] : []),
    ...rows.left.map((what) => `left behind: ${what}`),
  ];
}
