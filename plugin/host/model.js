/** One auxiliary model call over `ctx.llm` (docs/rewind.md 2). */
import { BlockAssembler } from '@deepseek-ai/dsh-llm';
import { shielded, untilAborted } from './abort.js';
import { reasonOf } from './error.js';

/** The harness's code for a completion that finished normally and said nothing. */
const EMPTY_RESPONSE = 'EMPTY_RESPONSE';

/**
 * Finds the route of an auxiliary call: the configured pair, else the session's last routed request, else
 * the agent's options (docs/rewind.md 2.1).
 *
 * @param configured - `{ provider, model }` of the configuration, both or neither set.
 * @param session - the session whose header is asked.
 * @param agent - the agent whose options come last.
 * @returns `{ provider, model, routed }`, `routed` telling that it is the session's own route; undefined
 * where no route is known.
 */
export function resolveRoute(configured, session, agent) {
  const header = session.requestHeader()?.config;
  const pick = [configured, header, agent.options].find((route) => route?.provider && route.model);
  if (!pick) return undefined;
  const { provider, model } = pick;
  return { provider, model, routed: provider === header?.provider && model === header?.model };
}

/**
 * Says that a configured provider is not mounted. Providers come and go with their plugins, so this is known only
 * when a call is about to be made.
 *
 * @param llm - `ctx.llm`.
 * @param key - the setting that names the provider.
 * @param provider - its value; undefined or empty where the session's own route is meant.
 * @returns a sentence without a full stop that names the providers there are; undefined where it is mounted.
 */
export function providerFault(llm, key, provider) {
  if (!provider || typeof llm?.listProviders !== 'function') return undefined;
  const mounted = llm.listProviders().map(({ id }) => id);
  if (mounted.includes(provider)) return undefined;
  const known = mounted.length === 0 ? 'none is' : `mounted: ${mounted.join(', ')}`;
  return `${key} is "${provider}", and no provider of that name is mounted (${known})`;
}

/**
 * Asks what a route can do. A failing probe is no reason to fail anything: it answers nothing.
 *
 * @param llm - `ctx.llm`.
 * @param route - the route to probe.
 * @param signal - ends the wait.
 * @returns `{ effort, images }`: the effort that disables thinking where the route offers it, and whether
 * images may be sent.
 * @throws the signal's reason.
 */
export async function probeRoute(llm, { provider, model }, signal) {
  const shield = shielded(signal);
  let info;
  try {
    info = await untilAborted(llm.resolveModelInfo(provider, model, shield.signal), signal);
  } catch {
    if (signal.aborted) throw signal.reason;
  } finally {
    shield.release();
  }
  return {
    effort: info?.reasoning?.efforts?.find(({ id }) => id === 'off')?.id,
    images: info?.inputModalities === undefined || info.inputModalities.includes('image'),
    contextWindow: info?.context?.contextWindow,
  };
}

/**
 * Streams one call to its end.
 *
 * @param llm - `ctx.llm`.
 * @param options - the request as `ctx.llm.stream` takes it, with `signal`.
 * @returns `{ finish, text, callsTools, failure, usage }`: the finish kind, all visible text, whether a tool
 * call is in the answer, the provider's own words where it failed, and the reported usage.
 * @throws the signal's reason.
 */
export async function ask(llm, options) {
  const { signal } = options;
  const shield = shielded(signal);
  const assembler = new BlockAssembler();
  let finish;
  let iterator;
  try {
    iterator = llm.stream({ ...options, signal: shield.signal })[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await untilAborted(iterator.next(), signal);
      if (done) break;
      if (value.type === 'finish') finish = withoutFalseAlarm(value.reason);
      assembler.push(value);
    }
  } catch (error) {
    close(iterator);
    if (signal.aborted) throw signal.reason;
    return { finish: 'error', text: '', callsTools: false, failure: describe(error) };
  } finally {
    shield.release();
  }
  const blocks = finish?.kind === 'error' || finish?.kind === 'aborted' ? [] : assembler.blocks();
  return {
    finish: finish?.kind ?? 'error',
    text: blocks.filter(({ type }) => type === 'text').map((block) => block.text).join('\n\n').toWellFormed(),
    callsTools: blocks.some(({ type }) => type === 'tool-call'),
    failure: finish ? finish.failure && describe(finish.failure) : 'the stream ended without a finish',
    usage: assembler.usage,
  };
}

/**
 * Adapters report a normal finish without a single block as a failure; to the caller it is an empty answer.
 */
function withoutFalseAlarm(reason) {
  return reason?.failure?.code === EMPTY_RESPONSE ? { kind: 'stop' } : reason;
}

/** Tells the provider to stop; nobody waits for it. A stream that failed by itself is closed already. */
async function close(iterator) {
  try {
    await iterator?.return?.();
  } catch {
    // What is left of a stream that is given up concerns nobody.
  }
}

function describe(failure) {
  const words = reasonOf(failure);
  return failure?.code ? `${words} (${failure.code})` : words;
}
