/**
 * The fork engine: rounds of a forked child that fills the draft through tools of its own scope
 * (docs/turn-memory.md 2.6). What a round wrote is kept; the next one is asked only for the rest.
 */
import { randomUUID } from 'node:crypto';
import { refusal } from './plan.js';
import { forkInstruction } from './prompts.js';

/** Name of the subagent provider whose children see the parent's completed turns. */
export const FORK = 'fork';

/** What an unfinished draft is called when its last round ended so. */
const STOPS = { completed: 'WORKING_UNTOUCHED', 'max-tokens': 'MAX_TOKENS', refusal: 'REFUSED' };

/**
 * Fills a plan's draft in at most `maxRounds` rounds. A round that finishes nothing is the last one.
 *
 * @param workers - where children are known by their job.
 * @param agent - the agent whose session it is.
 * @param plan - the turn's plan.
 * @param round - `round(run)`: bounds one round by time and cancellation.
 * @throws {RewindError} the classified failure.
 */
export async function fork(workers, agent, plan, round) {
  let code = 'WORKING_UNTOUCHED';
  for (let count = 0; count < plan.config.maxRounds; count += 1) {
    const before = plan.draft.unfinished.length;
    code = await oneRound(workers, agent, plan, round);
    const left = plan.draft.unfinished.length;
    if (left === 0) return;
    if (left === before) break;
  }
  throw refusal(code, `the summary of turn ${plan.turn} was left unfinished (parts ${plan.draft.unfinished.join(', ')}); `
    + 'the turn stays raw.');
}

/** Runs one child to its end, its deadline or a cancel, and says how an unfinished draft is to be called. */
async function oneRound(workers, agent, plan, round) {
  const job = workers.openDraft(randomUUID(), agent, plan);
  try {
    const result = await round((signal) => settle(workers, agent, plan, job, signal));
    return STOPS[result.stopReason] ?? 'MODEL_ERROR';
  } catch (error) {
    if (error?.code !== 'TIMEOUT') throw error;
    return 'TIMEOUT';
  } finally {
    workers.close(job);
  }
}

async function settle(workers, agent, plan, job, signal) {
  return workers.run(FORK, {
    label: `turn-summary ${plan.turn}`,
    prompt: [{ type: 'text', text: forkInstruction(plan, plan.config.maxWorkingChars) }],
    parent: agent,
    signal,
  }, job);
}
