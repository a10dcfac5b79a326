/**
 * The real harness in one process: real Context, LlmService, SessionStore, AgentLoop, ToolRegistry, token
 * meter, projections, commands and invariant companions. Only the model is scripted.
 *
 * @example
 *   const loop = await createLoop({
 *     plugins: [[rewind, {}], [checkpoint]],
 *     tools: [readTool()],
 *     steps: { main: [act(call('c1', 'read', { path: 'a' })), say('done')], report: [say('A report')] },
 *   });
 *   const agent = await loop.agent();
 *   const { reason, text } = await agent.prompt('look around');
 *   await loop.dispose();
 */
import { randomUUID } from 'node:crypto';
import { Context } from '@deepseek-ai/cordis';
import { AgentRegistry } from '@deepseek-ai/dsh-agent';
import * as agentInvariant from '@deepseek-ai/dsh-agent/invariant';
import { AgentLoop } from '@deepseek-ai/dsh-agent-loop';
import * as agentLoopInvariant from '@deepseek-ai/dsh-agent-loop/invariant';
import { CommandRuntime } from '@deepseek-ai/dsh-commands';
import * as commandsInvariant from '@deepseek-ai/dsh-commands/invariant';
import * as compactionInvariant from '@deepseek-ai/dsh-compaction/invariant';
import { InvariantRegistry } from '@deepseek-ai/dsh-invariants';
import { LlmRuntime, createUserMessage } from '@deepseek-ai/dsh-llm';
import * as llmInvariant from '@deepseek-ai/dsh-llm/invariant';
import { SessionId, SessionStore } from '@deepseek-ai/dsh-session';
import * as sessionInvariant from '@deepseek-ai/dsh-session/invariant';
import { JsonlSessionPersistence } from '@deepseek-ai/dsh-session-persistence-jsonl';
import { SessionProjectionRegistry } from '@deepseek-ai/dsh-session-projection';
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt';
import * as systemPromptInvariant from '@deepseek-ai/dsh-system-prompt/invariant';
import { TokenMeter } from '@deepseek-ai/dsh-token-meter';
import * as tokenMeterInvariant from '@deepseek-ai/dsh-token-meter/invariant';
import { ToolRuntime } from '@deepseek-ai/dsh-tools';
import * as toolsInvariant from '@deepseek-ai/dsh-tools/invariant';
import * as rewindInvariant from '../../plugin/invariant/index.js';
import { ScriptedAdapter } from './scripted-adapter.js';
import { textOf, toWire, wireFault } from './wire.js';

const INVARIANTS = [
  sessionInvariant, agentInvariant, agentLoopInvariant, commandsInvariant, compactionInvariant, llmInvariant,
  systemPromptInvariant, tokenMeterInvariant, toolsInvariant, rewindInvariant,
];

/** The route that the scripted adapter serves. */
export const ROUTE = { provider: 'scripted', model: 'scripted-1' };

/**
 * @param text - the words of a person.
 * @returns a user message as a person's prompt makes it.
 */
export function fromPerson(text) {
  return createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } });
}

/** One agent of the composition, with the few moves that a scenario makes. */
class TestAgent {
  #handle;

  constructor(ctx, handle) {
    this.ctx = ctx;
    this.#handle = handle;
    this.agent = handle.agent;
    this.session = handle.agent.session;
  }

  /**
   * Sends a person's prompt and waits until the agent is idle.
   *
   * @param text - the prompt.
   * @returns `{ reason, text }` of the last turn: why it ended, and the last visible words of the model in
   * it.
   */
  async prompt(text) {
    const from = this.session.seq;
    this.agent.followup(fromPerson(text));
    await this.agent.whenIdle();
    const events = this.session.events.slice(from);
    const spoken = events.filter(({ type }) => type === 'assistant/message')
      .map(({ data }) => textOf(data.message.content)).filter((words) => words !== '');
    const end = events.findLast(({ type }) => type === 'turn/end');
    return { reason: end?.data.reason, text: spoken.at(-1) ?? '' };
  }

  /** @param text - a steering message of a person, delivered at the next step. */
  steer(text) {
    this.agent.steer(fromPerson(text));
  }

  /**
   * @param line - a slash command.
   * @param signal - cancels it.
   * @returns the settled execution, undefined for an unknown command.
   */
  command(line, signal = new AbortController().signal) {
    return this.ctx.commands.execute(this.agent, line, [], signal);
  }

  /** @returns the surface, event by event, in the order in which the model sees it. */
  surface() {
    const { events } = this.session;
    return this.session.surface.nodes.map((seq) => events[seq]);
  }

  /** @returns the tool results on the surface and in the log as `{ seq, callId, isError, error, text }`. */
  results() {
    return this.session.events.filter(({ type }) => type === 'tool/result').map(({ seq, data }) => {
      const [block] = data.message.content;
      const { toolCallId: callId, isError = false } = block;
      return { seq, callId, isError, error: data.error, text: textOf(block.content) };
    });
  }

  /** @returns the fault that a provider would find in the surface as it stands, undefined for none. */
  fault() {
    return wireFault(toWire({ messages: this.session.deriveMessages() }));
  }

  /** Stops the agent and takes its session out of the store. */
  dispose() {
    return this.#handle.dispose();
  }
}

/**
 * Creates an agent on the scripted route.
 *
 * @param ctx - a context that carries the registry and the loop.
 * @param how - `id` of the session; `options` over the route; `seed`, `meta` and the rest as the registry takes
 * them.
 * @returns a promise of the agent.
 */
export async function createAgent(ctx, { id = `session-${randomUUID()}`, options = {}, ...more } = {}) {
  const how = { sessionId: SessionId(id), agentOptions: { ...ROUTE, ...options }, ...more };
  return new TestAgent(ctx, await ctx.agents.create(how));
}

/**
 * Mounts the composition.
 *
 * @param options - `steps`, `match`, `model`, `gate`: the scripted adapter's; `plugins`: `[module, config]`
 * pairs, mounted last and in order; `tools`: definitions to register; `meter: false` leaves out the token
 * meter; `invariants: false` the companions; `store`: a directory for real session logs, needed by `resume`;
 * `persona`: the system prompt's persona; `before(ctx)`: mounts further services ahead of the agent loop.
 * @returns a promise of `{ ctx, adapter, requests, rejected, script, agent(), resume(), mount(), logs(),
 * dispose() }`.
 */
export async function createLoop({
  steps = {}, match, model, gate, plugins = [], tools = [], meter = true, invariants = true, store,
  persona = 'You are a careful engineer.', before,
} = {}) {
  const ctx = new Context();
  const adapter = new ScriptedAdapter(steps, { match, model, gate });
  await ctx.plugin(LlmRuntime);
  await ctx.plugin(SessionStore);
  await ctx.plugin(SystemPrompt, { persona });
  await ctx.plugin(ToolRuntime);
  await ctx.plugin(AgentRegistry);
  await ctx.plugin(SessionProjectionRegistry);
  if (meter) await ctx.plugin(TokenMeter);
  await ctx.plugin(CommandRuntime);
  if (store) await ctx.plugin(JsonlSessionPersistence, { root: store, compression: 'none' });
  await before?.(ctx);
  await ctx.plugin(AgentLoop, { agents: [] });
  if (invariants) {
    await ctx.plugin(InvariantRegistry);
    for (const companion of INVARIANTS) await ctx.plugin(companion);
  }
  ctx.llm.registerAdapter([ROUTE.provider], adapter);
  for (const tool of tools) ctx.tools.register(tool);
  const mount = async (plugin, config) => {
    const fiber = ctx.plugin(plugin, config);
    await fiber;
    return fiber;
  };
  for (const [plugin, config] of plugins) await mount(plugin, config);

  return {
    ctx,
    adapter,
    requests: adapter.requests,
    script: adapter.script,
    get rejected() {
      return adapter.rejected;
    },
    mount,
    /** Creates an agent, see `createAgent`. */
    agent: (how) => createAgent(ctx, how),
    /** Resumes a stored session; needs `store`. */
    async resume(id, { options = {}, ...more } = {}) {
      const how = { resumeSessionId: SessionId(id), agentOptions: { ...ROUTE, ...options }, ...more };
      return new TestAgent(ctx, await ctx.agents.resume(how));
    },
    /** What plugins said through `ctx.logger`, as `{ type, name, text }`. */
    logs: () => ctx.logger.buffer.map(({ type, name, args, body }) => (
      { type, name, text: body ?? args?.join(' ') }
    )),
    dispose: () => ctx.fiber.dispose(),
  };
}
