/** Whether a cell came out as its row says: the outcome, the log byte for byte, the surface node for node. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { foldBreaches, replayBreaches, surfaceBreaches } from '../laws/checks.js';
import { oracle, replaySurface } from '../laws/oracle.js';
import { FAULT, REPORT } from './rig.js';

/** @returns what a fold came to, in the words of the table. */
export function outcomeOf({ result, error }) {
  if (result) return 'folded';
  return error?.code ?? error;
}

/** Compares an outcome with the one in the table. */
function assertOutcome(fold, wanted, what) {
  const found = outcomeOf(fold);
  if (wanted instanceof RegExp) assert.match(String(found?.message), wanted, what);
  else assert.deepEqual(found, wanted, `${what}: ${fold.error?.message ?? ''}`);
}

/** The edits that a fold wrote, by what they are, and its prices that price nothing. */
function writtenBy({ before, after }, foreign) {
  const events = after.events.slice(before.events.length).filter(({ seq }) => !foreign.includes(seq));
  const landed = [];
  let lonePrices = 0;
  for (const [index, event] of events.entries()) {
    if (event.type === 'compaction/prune') {
      const { start, end } = event.data.shadowedRange;
      const op = events[index + 1]?.surfaceOp;
      if (op?.start !== start || op.end !== end) lonePrices += 1;
    } else if (event.type === 'tool/result') landed.push('sibling');
    else landed.push({ 'rewind': 'report', 'rewind-pointer': 'pointer' }[event.data.source.plugin]);
  }
  return { landed, lonePrices };
}

/** The same events, and all that a replay of the log gives: nothing hides outside it. */
function assertGrewOnly({ before, after }, session) {
  assert.ok(before.events.every((event, seq) => after.events[seq] === event), 'an earlier event changed');
  assert.deepEqual(surfaceBreaches(after), []);
  assert.deepEqual(replayBreaches(session), []);
}

/** The meter's running count, which only exact prices keep, against a count of what stands. */
function assertMetered({ ctx, session, agent }) {
  const { contextBreakdown } = ctx.sessionProjections.snapshot(session).values;
  const counted = agent.surface().reduce((sum, event) => {
    const message = session.deriveEventMessage(event);
    return sum + (message === null ? 0 : ctx.tokenMeter.estimateMessage(message));
  }, 0);
  assert.equal(contextBreakdown.messageTokens, counted, 'the context meter drifted');
}

/** The numbers of a fold of which a part landed, against a recount from the log. */
function assertPartCounted({ before, after, result }, { ctx, session, foreign }) {
  const own = after.events.slice(before.events.length)
    .filter(({ seq, surfaceOp }) => typeof surfaceOp === 'object' && !foreign.includes(seq));
  const shadowed = own.flatMap(({ sourceEventSeqs }) => sourceEventSeqs);
  const order = before.nodes.filter((seq) => shadowed.includes(seq));
  const charsOf = (seq) => JSON.stringify(session.deriveEventMessage(after.events[seq]).content);
  const textOf = (seq) => [...charsOf(seq).matchAll(/"(?:text|arguments)":("(?:[^"\\]|\\.)*")/g)]
    .reduce((sum, [, text]) => sum + JSON.parse(text).length, 0);
  const tokensOf = (seqs) => seqs.reduce((sum, seq) => (
    sum + ctx.tokenMeter.estimateMessage(session.deriveEventMessage(after.events[seq]))), 0);
  const landed = own.map(({ seq }) => seq);
  const { foldedNodes, start, end, foldedChars, reportChars, foldedTokens, reportTokens } = result;
  assert.deepEqual(
    { foldedNodes, start, end, foldedChars, reportChars, foldedTokens, reportTokens },
    {
      foldedNodes: order.length,
      start: order[0],
      end: order.at(-1),
      foldedChars: order.reduce((sum, seq) => sum + textOf(seq), 0),
      reportChars: landed.reduce((sum, seq) => sum + textOf(seq), 0),
      foldedTokens: tokensOf(order),
      reportTokens: tokensOf(landed),
    },
  );
}

/** A whole fold keeps every law; where somebody else changed the surface the table's own facts have to do. */
function assertLawful(fold, mark, { ctx, foreign }) {
  const { before, after, result } = fold;
  if (foreign.length > 0) return;
  const plan = oracle(before.events, before.nodes, mark);
  const breaches = foldBreaches({
    atCommit: before, after, plan, mark, result, meter: ctx.tokenMeter, carried: [], reply: REPORT,
  });
  assert.deepEqual(breaches, []);
}

/**
 * Asserts the fold that met the fault.
 *
 * @param rig - the rig, its turn over.
 * @param fold - that fold.
 * @param cell - its row of the table.
 * @param mark - the mark it began with.
 */
export function assertFold(rig, fold, cell, mark) {
  assertOutcome(fold, cell.outcome, 'the fold');
  assert.equal(fold.holder, undefined, 'the lock is held');
  assertGrewOnly(fold, rig.session);
  const { landed, lonePrices } = writtenBy(fold, rig.foreign);
  assert.deepEqual({ landed, lonePrices }, { landed: cell.landed, lonePrices: cell.lonePrices });
  if (cell.landed.length === 0 && lonePrices === 0 && rig.foreign.length === 0) {
    assert.equal(fold.after.events.length, fold.before.events.length, 'a refusal wrote something');
    assert.ok(isDeepStrictEqual(fold.after.nodes, fold.before.nodes), 'a refusal changed the surface');
  }
  assert.deepEqual(replaySurface(fold.after.events), fold.after.nodes);
  for (const pattern of cell.warning) assert.match(fold.result.warning, pattern);
  if (fold.result && cell.warning.length === 0) assert.equal(fold.result.warning, undefined);
  if (cell.landed.length === 3) assertLawful(fold, mark, rig);
  else if (fold.result) assertPartCounted(fold, rig);
  if (typeof cell.outcome === 'string' && fold.error) assertTold(fold.error, cell.outcome);
}

/** A refusal is classified, keeps what caused it, and says what to do next. */
function assertTold(error, code) {
  assert.equal(error.name, 'RewindError');
  assert.match(error.message, /fold|explor|checkpoint/i);
  const caused = ['NO_CHECKPOINT', 'CHANGED'].includes(code) && error.message.includes(FAULT.message);
  if (caused) assert.equal(error.cause, FAULT);
}

/**
 * Asserts what the model and the turn saw, and what is left for the next fold.
 *
 * @param rig - the rig, the next fold over.
 * @param cell - the row of the table.
 * @param seen - `turn`, `nags`: of the turn with the fault; `next`: the fold that was asked for after it.
 */
export function assertAftermath(rig, cell, { turn, nags, next }) {
  assert.equal(turn, cell.turn, 'why the turn ended');
  assert.equal(nags, cell.nags, 'warnings of the guard');
  assertOutcome(next, cell.again, 'the next fold');
  assert.equal(next.holder, undefined, 'the lock is held after the next fold');
  assert.equal(rig.nags, cell.nags, 'the guard warned after the next fold');
  const mark = rig.ctx.checkpoint.peek(rig.session.id);
  assert.equal(mark && mark.foldedAt !== null, cell.stamped, 'what the provider knows');
  assertMetered(rig);
  assert.equal(rig.agent.fault(), undefined, 'the surface is not wire-valid');
  assert.deepEqual(rig.loop.rejected, []);
  assert.deepEqual(rig.rejections, [], 'an unhandled rejection');
}
