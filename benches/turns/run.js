/**
 * `npm run bench:turns`: what the two engines of turn memory take for the same turns, and how fast a long log is
 * segmented and rendered. Needs a release build of the core; fails where an acceptance does not hold.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { measure } from './engines.js';
import { recordedTurns, syntheticTurns } from './recorded.js';
import { measureSpeed } from './speed.js';

const TURNS = 10;
const SPEED_EVENTS = 100_000;
const MEMORY_EVENTS = [1_000, 10_000, 100_000];
/** Two medians of one machine that is shared differ by this much without meaning it. */
const NOISE = 1.05;

const out = (line = '') => process.stdout.write(`${line}\n`);
const table = (rows) => rows.forEach((row) => out(`| ${row.join(' | ')} |`));

async function engines() {
  const recorded = recordedTurns();
  const turns = [...recorded, ...syntheticTurns(TURNS - recorded.length)];
  if (recorded.length === 0) out('(no recorded sessions here: all turns are synthetic)\n');
  const columns = ['requests', 'input', 'prefix', 'output', 'copied'];
  table([
    ['turn', 'calls', 'tokens', ...['replay', 'fork'].flatMap((name) => columns.map((column) => `${name} ${column}`)), 'words kept'],
    ['---', ...Array.from({ length: 13 }, () => '---:')],
  ]);
  const total = { replay: empty(columns), fork: empty(columns) };
  for (const turn of turns) {
    const replay = await measure(turn, 'replay');
    const fork = await measure(turn, 'fork');
    for (const [name, found] of Object.entries({ replay, fork })) {
      assert.equal(found.words, found.said, `${turn.name}: every word is kept under ${name}`);
      for (const column of columns) total[name][column] += found[column];
    }
    assert.ok(replay.after < replay.before);
    table([[
      turn.name, turn.calls, `${replay.before} to ${replay.after}`,
      ...[replay, fork].flatMap((found) => columns.map((column) => found[column])),
      replay.said === 0 ? 'none said' : `${100 * replay.words / replay.said}%`,
    ]]);
  }
  table([['all', '', '', ...['replay', 'fork'].flatMap((name) => columns.map((column) => total[name][column])), '']]);
}

function empty(columns) {
  return Object.fromEntries(columns.map((column) => [column, 0]));
}

function speed() {
  const { events, turns, core, hand } = measureSpeed(SPEED_EVENTS);
  out(`Segment and render every turn of a log of ${events} events (${turns} turns) as it ends, median of 9 runs:`);
  out(`core ${core.toFixed(0)} ms, plain JavaScript ${hand.toFixed(0)} ms of processor time (${(hand / core).toFixed(2)} times as long)`);
  assert.ok(core <= hand * NOISE, 'the core is no slower than plain JavaScript');
}

function memory() {
  const program = fileURLToPath(new URL('memory.js', import.meta.url));
  const found = MEMORY_EVENTS.map((events) => {
    const bytes = Number(execFileSync(process.execPath, [program, String(events)], { encoding: 'utf8' }));
    return { events, bytes };
  });
  out('Memory of one draft of a turn of 41 messages, table of the log included:');
  out(found.map(({ events, bytes }) => `${events} events ${(bytes / 1024).toFixed(0)} KiB`).join(', '));
  const [small, , large] = found;
  assert.ok(large.bytes < 1.25 * small.bytes + 16 * 1024, 'memory is bounded by the turn, not by the log');
}

await engines();
out();
speed();
out();
memory();
