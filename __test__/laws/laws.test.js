/**
 * The laws on generated sessions, through the package's own service. `TOOL_REWIND_LAWS_CASES` and
 * `TOOL_REWIND_LAWS_SEED` change how many and which; `npm run laws` runs any number.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { describe, runCampaign } from './campaign.js';
import { COMPOSITIONS, mountService } from './service.js';

const CASES = Number(process.env.TOOL_REWIND_LAWS_CASES ?? 2000);
const SEED = Number(process.env.TOOL_REWIND_LAWS_SEED ?? Date.now() % 4294967296);
/** A slow machine plays fewer cases rather than failing for time; the number played is in the output. */
const MILLISECONDS = 180_000;

test('every law holds after every fold of generated sessions', async (t) => {
  const mounted = [];
  for (const composition of COMPOSITIONS) mounted.push(await mountService(composition));
  const { played, tally, failures } = await runCampaign(mounted, {
    cases: CASES,
    seed: SEED,
    milliseconds: MILLISECONDS,
  });
  t.diagnostic(`${played} sessions of seed ${SEED}: ${JSON.stringify(tally)}`);
  for (const { dispose } of mounted) await dispose();
  assert.deepEqual(failures, [], failures.map((failure) => describe(failure, SEED)).join('\n'));
  assert.ok(played > 0 && tally.OK > 0);
});
