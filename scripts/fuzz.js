/**
 * `npm run fuzz -- [--seconds N] [--target T]`: each fuzz target, or the named one, for N seconds (60) on
 * arbitrary input. `npm run fuzz -- --target T FILE` plays one input again.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildFuzz, fuzz, fuzzTargets, replay } from './lib/fuzz.js';
import { main } from './lib/process.js';

await main(() => {
  const { values, positionals: [file] } = parseArgs({
    allowPositionals: true,
    options: { seconds: { type: 'string', default: '60' }, target: { type: 'string' } },
  });
  const known = fuzzTargets();
  const { target } = values;
  if (target !== undefined && !known.includes(target)) {
    throw new Error(`--target ${target}: the targets are ${known.join(', ')}`);
  }
  const seconds = Number(values.seconds);
  if (!Number.isInteger(seconds) || seconds < 1) {
    throw new Error(`--seconds ${values.seconds}: a whole number is needed`);
  }
  if (file !== undefined && target === undefined) throw new Error('--target is needed to play an input again');
  const folder = buildFuzz();
  if (file !== undefined) {
    replay(folder, target, resolve(file));
    return;
  }
  for (const one of target === undefined ? known : [target]) {
    console.log(`${one}: ${seconds} s`);
    fuzz(folder, one, seconds);
  }
});
