/** Telling a turn again: its raw record, or an answer about it (docs/turn-memory.md 2.8, 2.9). */
import { randomUUID } from 'node:crypto';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { follow, untilAborted } from '../host/abort.js';
import { harness } from '../host/compat.js';
import { ask, probeRoute, providerFault, resolveRoute } from '../host/model.js';
import { native } from '../native.js';
import { FORK } from './fork.js';
import { classified, openingText, refusal } from './plan.js';
import { forkQuestion, transcriptQuestion } from './prompts.js';
import { scriptOf } from './script.js';
import { forkPrefix, recordOf, turnsOf } from './turns.js';

/** Name of the subagent provider whose children start without any context. */
const SPAWN = 'spawn';
/** Tokens left for everything in a recall request besides the record. */
const REQUEST_OVERHEAD = 4000;
const UNBOUNDED = 2 ** 32 - 1;

/**
 * Finds a turn.
 *
 * @param session - the session.
 * @param number - what a model gave as the turn's number.
 * @returns the turn's facts.
 * @throws {RewindError} `TURN_NOT_FOUND`.
 */
export function findTurn(session, number) {
  const inRange = Number.isInteger(number) && number >= 1 && number <= UNBOUNDED;
  const facts = inRange ? turnsOf(session).turn(number) : undefined;
  if (!facts) {
    const newest = turnsOf(session).newest();
    const known = newest ? `its turns go up to ${newest.number}` : 'it has no turn yet';
    throw refusal('TURN_NOT_FOUND', `there is no turn ${number} in this session; ${known}.`);
  }
  return facts;
}

/**
 * The record of a turn, read from the log: a replaced turn comes back as it was.
 *
 * @param session - the session.
 * @param facts - the turn, from {@link findTurn}.
 * @param limits - `toolResultCapChars` and `maxRawChars`, code points; without them nothing is cut.
 * @returns the transcript; an open turn's says that it is one.
 */
export function transcriptOf(session, facts, { toolResultCapChars = UNBOUNDED, maxRawChars = UNBOUNDED } = {}) {
  const script = scriptOf(recordOf(facts, harness.events(session)), facts.number);
  const text = classified(() => native.turnTranscript(script, toolResultCapChars, maxRawChars));
  const note = `[turn ${facts.number} is still open: this is its record so far]\n\n`;
  return isOpen(facts) ? note + text : text;
}

function isOpen({ end }) {
  return end === undefined || end === null;
}

/** Questions about turns. */
export class Recall {
  /**
   * @param ctx - the plugin's context.
   * @param config - the resolved row.
   * @param workers - where children are known by their job.
   */
  constructor(ctx, config, workers) {
    this.ctx = ctx;
    this.config = config;
    this.workers = workers;
  }

  /**
   * Answers a question about a turn: by a fork that still sees it, else by the cheap model over its record.
   *
   * @param agent - the agent that asks.
   * @param facts - the turn.
   * @param question - what is asked.
   * @param caller - the caller's signal.
   * @returns the answer.
   * @throws {RewindError} `RECALL_START_FAILED`, `RECALL_STOPPED`, `RECALL_EMPTY`, `RECALL_TIMEOUT`, `ABORTED`.
   */
  async answer(agent, facts, question, caller) {
    const { recallTimeoutMs } = this.config;
    const stop = follow(caller);
    const timer = setTimeout(() => {
      stop.abort(refusal('RECALL_TIMEOUT', `no answer came within ${recallTimeoutMs} ms; ask again, or read the record `
        + 'with mode "raw".'));
    }, recallTimeoutMs);
    try {
      const text = await untilAborted(this.#ask(agent, facts, question, stop.signal), stop.signal);
      if (text.trim() !== '') return text;
      throw refusal('RECALL_EMPTY', 'the answer is empty; ask more precisely, or read the record with mode "raw".');
    } catch (error) {
      if (!caller.aborted) throw error;
      throw refusal('ABORTED', 'the recall was cancelled.');
    } finally {
      clearTimeout(timer);
      stop.release();
    }
  }

  #ask(agent, facts, question, signal) {
    const events = harness.events(agent.session);
    const route = () => turnsOf(agent.session, events)
      .route(facts.number, Date.now(), this.config.recallRecentWindowMs, forkPrefix(events));
    if (this.workers.has(FORK) && classified(route) === 'fork') return this.#byFork(agent, facts, question, signal);
    return this.#byRecord(agent, facts, question, signal);
  }

  async #byFork(agent, facts, question, signal) {
    const opening = openingText(harness.eventAt(agent.session, facts.opening));
    const job = this.workers.openRecall(randomUUID(), agent);
    try {
      return await this.#child(FORK, {
        label: `recall turn ${facts.number}`,
        prompt: [{ type: 'text', text: forkQuestion(facts.number, opening, question) }],
        parent: agent,
        signal,
        maxDepth: this.config.maxRecallDepth,
      }, job);
    } finally {
      this.workers.close(job);
    }
  }

  async #byRecord(agent, facts, question, signal) {
    const { cheapProvider, cheapModel, cheapMaxTokens: maxTokens } = this.config;
    const unmounted = providerFault(this.ctx.llm, 'cheapProvider', cheapProvider);
    if (unmounted) {
      throw refusal('RECALL_START_FAILED', `${unmounted}. Set cheapProvider and cheapModel of the row to a route that is `
        + 'there, or both to an empty string for the session\'s own; or read the record with mode "raw".');
    }
    const route = resolveRoute({ provider: cheapProvider, model: cheapModel }, agent.session, agent);
    if (!route) {
      throw refusal('RECALL_START_FAILED', 'no model is known for the answer: set cheapProvider and cheapModel, or '
        + 'give the agent a provider and a model.');
    }
    const { provider, model } = route;
    const { contextWindow } = await probeRoute(this.ctx.llm, route, signal);
    const record = transcriptOf(agent.session, facts, this.config);
    const room = Math.max(0, Math.min((contextWindow ?? Infinity) - maxTokens - REQUEST_OVERHEAD, UNBOUNDED));
    const fitted = native.fitTranscript(record, room) ?? record;
    const content = [{ type: 'text', text: transcriptQuestion(facts.number, question, fitted) }];
    if (this.workers.has(SPAWN)) {
      return this.#child(SPAWN, {
        label: `recall turn ${facts.number}`,
        prompt: content,
        parent: agent,
        signal,
        agentOptions: { provider, model, maxTokens },
        toolFilter: { allow: [] },
      });
    }
    const message = createUserMessage({ content, source: { kind: 'plugin', plugin: 'turn-memory-request' } });
    const answer = await ask(this.ctx.llm, { provider, model, maxTokens, messages: [message], signal });
    if (answer.finish === 'stop' && !answer.callsTools) return answer.text;
    throw stopped(answer.finish, answer.failure);
  }

  async #child(provider, request, job) {
    let result;
    try {
      result = await this.workers.run(provider, request, job);
    } catch (error) {
      if (error?.code !== 'WORKER_START_FAILED') throw error;
      throw refusal('RECALL_START_FAILED', `${error.cause?.message ?? error.message} Read the record with mode "raw".`, error);
    }
    if (result.stopReason !== 'completed') throw stopped(result.stopReason, result.diagnostic);
    return result.output.filter(({ type }) => type === 'text').map((block) => block.text).join('\n');
  }
}

function stopped(reason, words) {
  return refusal('RECALL_STOPPED', `the answer ended with ${reason}${words === undefined ? '' : ` (${words})`}; ask again, `
    + 'or read the record with mode "raw".');
}
