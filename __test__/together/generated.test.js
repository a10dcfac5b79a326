/**
 * Fold, pruner, turn memory and compaction in one profile, on generated sessions of the real loop. The seeds
 * are fixed, so that a failure is the same everywhere; `TOOL_REWIND_TOGETHER_SEED` and
 * `TOOL_REWIND_TOGETHER_CASES` play others.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { playStory } from './story.js';

const FIRST = Number(process.env.TOOL_REWIND_TOGETHER_SEED ?? 1);
const CASES = Number(process.env.TOOL_REWIND_TOGETHER_CASES ?? 40);

/** Meetings without which the sessions would prove little. */
const MEETINGS = [
  'cut', 'partial', 'rewind-prune', 'rewind', 'rewind-pointer', 'sibling', 'turn-memory', 'compact',
  'rewind under turn-memory', 'cut under turn-memory', 'turn-memory under compact',
];

test(`the laws of every edit hold in ${CASES} sessions where everything edits`, async (t) => {
  const tally = {};
  for (let seed = FIRST; seed < FIRST + CASES; seed += 1) {
    await t.test(`seed ${seed}`, async (one) => {
      const story = await playStory(one, seed);
      assert.deepEqual(story.breaches, []);
      for (const [kind, count] of Object.entries(story.tally)) tally[kind] = (tally[kind] ?? 0) + count;
    });
  }
  t.diagnostic(JSON.stringify(tally));
  if (CASES >= 40) assert.deepEqual(MEETINGS.filter((meeting) => tally[meeting] === undefined), []);
});
