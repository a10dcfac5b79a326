/**
 * One pass of a judge: questions packed by the core, asked in parallel, each request retried by itself, the
 * whole bounded by a deadline. Nothing here ever reaches the agent's step (docs/prune.md 3.2).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { follow, untilAborted } from '../host/abort.js';
import { native } from '../native.js';
import { JudgeError } from './judges/error.js';
import { goalOf, stateOf } from './state.js';

/** Requests of one pass that are under way at once. */
const PARALLEL = 4;

/**
 * Asks a judge about every result that lacks a verdict and stores what it answers.
 *
 * @param judge - the judge.
 * @param pass - `agent`, `view` and `events` of the surface, `pending` messages of the step, `config`,
 *   `deadline` in epoch milliseconds, and the `signal` that is aborted when it passes.
 * @returns a promise of `{ asked, judged, batches, failed, skipped, unfitted, late, errors }`: results asked
 *   about, results answered, requests, requests that failed, questions that fit in none, requests whose state
 *   had to drop history, whether the deadline passed, and the failures. It never rejects.
 */
export async function runJudge(judge, { agent, view, events, pending, config, deadline, signal }) {
  const { session } = agent;
  const state = stateOf(session);
  const goal = state.goal.version;
  const { needs, effects } = missingAxes(view, events, state);
  const report = {
    asked: new Set([...needs, ...effects]).size,
    judged: 0,
    batches: 0,
    failed: 0,
    skipped: 0,
    unfitted: 0,
    late: false,
    errors: [],
  };
  if (report.asked === 0) return report;
  const { batches, skipped } = view.batches(
    state.goal.texts.map((text) => text.toWellFormed()),
    needs,
    effects,
    Math.min(config.maxRequestTokens, Math.floor(judge.limits.maxInputTokens)),
    Math.min(Math.floor(judge.limits.maxQuestions), 2 ** 31),
  );
  Object.assign(report, { batches: batches.length, skipped });
  report.unfitted = batches.filter(({ fitted }) => !fitted).length;

  const answeredSeqs = new Set();
  const ask = async (batch) => {
    try {
      const answers = await askWithRetries(judge, batch, { agent, config, deadline, signal });
      // A goal that changed while the judge was thinking makes needs worthless; what a call did stays done.
      const stale = goalOf(session, pending).version !== goal;
      for (const { id, seq, axis } of batch.questions) {
        const value = answers.get(id);
        if (value === undefined || (stale && axis === 'result')) continue;
        state.verdicts.put(seq, axis === 'result' ? 'need' : 'effect', value, goal);
        answeredSeqs.add(seq);
      }
    } catch (error) {
      report.failed += 1;
      report.errors.push(error);
    }
  };
  const queue = [...batches];
  const worker = async () => {
    while (queue.length > 0) await ask(queue.shift());
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  report.late = signal.aborted;
  report.judged = answeredSeqs.size;
  return report;
}

function missingAxes(view, events, state) {
  const needs = [];
  const effects = [];
  for (const { seq, both } of view.candidates()) {
    const known = state.verdicts.of(events, seq, state.goal.version);
    if (known.need === undefined) needs.push(seq);
    if (both && known.effect === undefined) effects.push(seq);
  }
  return { needs, effects };
}

/** One request, as often as it may be made; the values by question id. */
async function askWithRetries(judge, batch, { agent, config, deadline, signal }) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await askOnce(judge, batch, agent, config.judgeTimeoutMs, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const wait = Math.max(error?.retryAfterMs ?? 0, config.judgeRetryBaseMs * 2 ** attempt);
      const hopeless = error?.retryable !== true || attempt >= config.judgeMaxRetries;
      if (hopeless || Date.now() + wait >= deadline) throw error;
      await sleep(wait, undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    }
  }
}

async function askOnce(judge, { state, questions }, agent, timeoutMs, signal) {
  const attempt = follow(signal);
  const timer = setTimeout(() => {
    attempt.abort(
      new JudgeError('JUDGE_TIMEOUT', `the judge did not answer in ${timeoutMs} ms`, { retryable: true }),
    );
  }, timeoutMs);
  try {
    const request = {
      state,
      questions: questions.map(({ id, statement }) => ({ id, statement, kind: 'noul' })),
    };
    const asked = Promise.resolve().then(() => judge.ask(request, { agent, signal: attempt.signal }));
    // A judge that does not heed the signal is not waited for.
    const { answers } = (await untilAborted(asked, attempt.signal)) ?? {};
    if (!(answers instanceof Map))
      throw new JudgeError('JUDGE_FORMAT', `the judge ${judge.id} gave no answers`);
    return cleaned(answers, questions);
  } finally {
    clearTimeout(timer);
    attempt.release();
  }
}

/** Known ids with a finite number, clamped to 0 to 1. */
function cleaned(answers, questions) {
  const given = questions.filter(({ id }) => typeof answers.get(id)?.p === 'number');
  const values = native.pruneClamp(given.map(({ id }) => answers.get(id).p));
  return new Map(
    given.map(({ id }, at) => [id, values[at]]).filter(([, value]) => typeof value === 'number'),
  );
}
