/**
 * The replay engine: one model call over the conversation's own prefix, no tools run, no files
 * (docs/turn-memory.md 2.6). System, tools and messages are those of the last request, so the provider's cache
 * is warm to the last byte before the final instruction.
 */
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { harness } from '../host/compat.js';
import { ask, resolveRoute } from '../host/model.js';
import { readSurface } from '../host/surface.js';
import { native } from '../native.js';
import { classified, refusal } from './plan.js';
import { replayInstruction } from './prompts.js';

/** What a finish other than `stop` is called. */
const FINISHES = { 'tool-calls': 'TOOL_CALLS', 'max-tokens': 'MAX_TOKENS', aborted: 'MODEL_ERROR', error: 'MODEL_ERROR' };

/**
 * Fills a plan's draft with one call.
 *
 * @param ctx - the plugin's context.
 * @param agent - the agent whose session it is.
 * @param plan - the turn's plan.
 * @param round - `round(run)`: bounds the call by time and cancellation.
 * @throws {RewindError} the classified failure; the draft is of no use then.
 */
export async function replay(ctx, agent, plan, round) {
  const request = requestFor(agent, plan);
  const answer = await round((signal) => ask(ctx.llm, { ...request, signal }));
  if (answer.finish !== 'stop' || answer.callsTools) {
    const code = answer.callsTools ? 'TOOL_CALLS' : FINISHES[answer.finish] ?? 'MODEL_ERROR';
    const words = answer.failure === undefined ? '' : ` (${answer.failure})`;
    throw refusal(code, `the summary of turn ${plan.turn} ended with ${answer.finish}${words}; the turn stays raw.`);
  }
  classified(() => plan.draft.apply(answer.text));
}

/** The last request's envelope over the surface as it stands, and the instruction. */
function requestFor(agent, plan) {
  const { session } = agent;
  const events = harness.events(session);
  const surface = readSurface(session, events);
  const sent = surface.nodes.subarray(0, classified(() => native.requestCut(surface)));
  if (!sent.includes(plan.seqs.at(-1))) {
    throw refusal('PREFIX_FAULT', `the conversation before the end of turn ${plan.turn} holds a message that a provider `
      + 'refuses, so it cannot be sent; the turn stays raw.');
  }
  const header = session.requestHeader();
  const route = header?.config ?? resolveRoute({}, session, agent);
  if (!route?.provider || !route.model) {
    throw refusal('NO_ROUTE', 'no model is known for the summary: route a request first, or give the agent a provider '
      + 'and a model in its options.');
  }
  const { routed: _routed, ...config } = route;
  const messages = Array.from(sent, (seq) => session.deriveEventMessage(events[seq]));
  const instruction = createUserMessage({
    content: [{ type: 'text', text: replayInstruction(plan, plan.config.maxWorkingChars) }],
    source: { kind: 'plugin', plugin: 'turn-memory-request' },
  });
  return {
    ...config,
    ...(header?.system === undefined ? {} : { system: header.system }),
    ...(header?.tools === undefined ? {} : { tools: header.tools }),
    messages: [...messages.filter((message) => message !== null), instruction],
    sessionId: session.id,
  };
}
