/** What the addon costs to have: time to load, size on disk, threads. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import test from 'node:test';
import { ADDON } from '../scripts/lib/project.js';

/** Loads the addon in a process of its own and says what that took. */
function load() {
  const script = `
    const { readdirSync } = require('node:fs');
    const threads = () => { try { return readdirSync('/proc/self/task').length; } catch { return 0; } };
    const before = threads();
    const from = performance.now();
    require(${JSON.stringify(ADDON)});
    const ms = performance.now() - from;
    process.stdout.write(JSON.stringify({ ms, threads: threads() - before }));
  `;
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }));
}

test('the addon loads in under 20 ms', () => {
  // The best of several: a busy machine makes a load slower, never faster.
  const times = Array.from({ length: 8 }, () => load().ms);
  assert.ok(Math.min(...times) < 20, `loaded in ${times.map((ms) => ms.toFixed(1)).join(', ')} ms`);
});

test('the addon is smaller than 3 MB with everything in', () => {
  const { size } = statSync(ADDON);
  assert.ok(size < 3_000_000, `${size} bytes`);
});

test('the addon has one worker thread', { skip: !existsSync('/proc/self/task') && 'no /proc here' }, () => {
  assert.equal(load().threads, 1);
});
