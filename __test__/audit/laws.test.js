/**
 * Sessions that the laws produce: the audit objects to nothing of ours in them, and recall gives back whatever
 * left the surface, without touching it.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { recallText, replacementsOf } from '../../plugin/host/replaced.js';
import { makeRecipe } from '../laws/generator.js';
import { caseSeed } from '../laws/random.js';
import { COMPOSITIONS, mountService } from '../laws/service.js';
import { playRecipe } from '../laws/trial.js';
import { auditOf, scratch, writeSession } from './run.js';

const CASES = Number(process.env.TOOL_REWIND_LAWS_CASES ?? 120);
const SEED = Number(process.env.TOOL_REWIND_LAWS_SEED ?? Date.now() % 4294967296);

const signal = new AbortController().signal;

/** Every node that a replacement took away, appended or not. */
const takenIn = ({ events }) => events
  .filter(({ surfaceOp }) => typeof surfaceOp === 'object')
  .flatMap(({ seq, sourceEventSeqs }) => sourceEventSeqs.map((taken) => ({ taken, by: seq })));

/** Recalls some of what left the surface. */
async function recallSome(session, random) {
  const { nodes } = session.surface;
  const before = [...nodes];
  const length = session.events.length;
  const taken = takenIn(session);
  for (let n = 0; n < 3 && taken.length > 0; n += 1) {
    const { taken: seq, by } = taken[random(taken.length)];
    const event = session.events[seq];
    if (event.surfaceOp === undefined) continue;
    const back = await recallText(session, { seq }, 1_000_000, signal);
    assert.ok(replacementsOf(session).takenBy(by).includes(seq));
    if (event.surfaceOp === 'append') assert.match(back, new RegExp(`^s${seq} `));
    const whole = await recallText(session, { seq: by }, 10_000_000, signal);
    if (event.surfaceOp === 'append') assert.ok(`\n${whole}`.includes(`\ns${seq} `), `s${seq} behind s${by}`);
  }
  if (taken.length > 0) await recallText(session, { pattern: 'e' }, 1_000, signal).catch(({ code }) => assert.equal(code, 'NO_MATCH'));
  assert.deepEqual([...session.surface.nodes], before);
  assert.equal(session.events.length, length);
}

/** A driver that keeps the sessions it folded. */
function watching(driver, sessions, random) {
  return Object.create(driver, {
    fold: {
      async value(stage, ask) {
        const outcome = await driver.fold(stage, ask);
        sessions.set(stage.session.id, stage.session);
        await recallSome(stage.session, random);
        return outcome;
      },
    },
  });
}

test('the audit of every log that the laws produce holds nothing against us', { timeout: 600_000 }, async (t) => {
  const folder = scratch(t);
  const sessions = new Map();
  const mounted = [];
  for (const composition of COMPOSITIONS) mounted.push(await mountService(composition));
  let state = SEED;
  const random = (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % limit;
  };
  for (let index = 0; index < CASES; index += 1) {
    const { world, driver } = mounted[index % mounted.length];
    const { breaches } = await playRecipe(
      world, watching(driver, sessions, random), makeRecipe(caseSeed(SEED, index)), `a${index}`,
    );
    assert.deepEqual(breaches, [], `case ${index} of seed ${SEED}`);
  }
  for (const { dispose } of mounted) await dispose();
  let count = 0;
  for (const session of sessions.values()) writeSession(join(folder, `${count += 1}.jsonl`), session);
  const { audits, stderr } = auditOf(folder);
  assert.equal(stderr, '');
  assert.equal(audits.length, sessions.size);
  const folds = audits.reduce((sum, audit) => sum + audit.folds.length, 0);
  t.diagnostic(`${audits.length} logs of seed ${SEED}, ${folds} folds`);
  assert.ok(folds > 0);
  for (const { path, findings, replacements } of audits) {
    // What an imported or interrupted session already had wrong is not ours; a replacement of ours never is.
    // Turn checkpoints in these sessions are the generator's own and stand for any nodes.
    const turns = new Set(replacements.filter(({ by }) => by === 'turn checkpoint').map(({ seq }) => seq));
    const against = findings.filter(({ ours, code, by }) => (
      code === 'broken-promise' ? !turns.has(by) : ours || !['wire-fault', 'unfinished-compaction'].includes(code)
    ));
    assert.deepEqual(against, [], `${path}, seed ${SEED}`);
  }
});
