/**
 * `npm run laws -- --cases N --seed S`: the laws on N generated sessions of the real `Session`.
 *
 *   --cases N       how many sessions (default 2,000)
 *   --seed S        the seed of the run (default: from the clock, printed)
 *   --processes P   spread over P processes (default 1)
 *   --only I        case I of the seed alone
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { describe, runCampaign } from './campaign.js';
import { COMPOSITIONS, mountService } from './service.js';

const { values } = parseArgs({
  options: Object.fromEntries(
    ['cases', 'seed', 'processes', 'only', 'part', 'parts'].map((name) => [name, { type: 'string' }]),
  ),
});

function numberOf(name, fallback) {
  const text = values[name];
  if (text === undefined) return fallback;
  if (!/^\d+$/.test(text)) throw new Error(`--${name} takes a whole number, got "${text}"`);
  return Number(text);
}

const seed = numberOf('seed', Date.now() % 4294967296);
const only = numberOf('only', undefined);
const processes = numberOf('processes', 1);
const cases = only === undefined ? numberOf('cases', 2000) : only + 1;

async function play(part, parts) {
  const mounted = [];
  for (const composition of COMPOSITIONS) mounted.push(await mountService(composition));
  const started = performance.now();
  const { played, tally, failures } = await runCampaign(mounted, { cases, seed, part, parts });
  for (const failure of failures) process.stderr.write(`${describe(failure, seed)}\n`);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const outcomes = Object.entries(tally)
    .toSorted()
    .map(([outcome, count]) => `${outcome} ${count}`)
    .join(', ');
  process.stdout.write(
    `laws: ${played} sessions of seed ${seed} in ${seconds} s, ${failures.length} failures; ${outcomes}\n`,
  );
  for (const { dispose } of mounted) await dispose();
  return failures.length === 0;
}

async function child(part) {
  const path = fileURLToPath(import.meta.url);
  const args = ['--cases', cases, '--seed', seed, '--part', part, '--parts', processes].map(String);
  const [code] = await once(spawn(process.execPath, [path, ...args], { stdio: 'inherit' }), 'exit');
  return code === 0;
}

let held;
if (only !== undefined) held = await play(only, cases);
else if (values.part !== undefined) held = await play(numberOf('part'), numberOf('parts'));
else if (processes > 1)
  held = (await Promise.all(Array.from({ length: processes }, (_, part) => child(part)))).every(Boolean);
else held = await play(0, 1);
process.exitCode = held ? 0 : 1;
