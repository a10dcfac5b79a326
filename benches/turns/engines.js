/** One turn, played on the real loop and summarized by one engine with a scripted model. */
import assert from 'node:assert/strict';
import { SubagentRuntime } from '@deepseek-ai/dsh-subagent';
import * as forkProvider from '@deepseek-ai/dsh-subagent-fork-in-process';
import { createAssistantMessage, createUserMessage } from '@deepseek-ai/dsh-llm';
import { Session } from '@deepseek-ai/dsh-session';
import { setTimeout as sleep } from 'node:timers/promises';
import * as turnMemory from '../../plugin/turn-memory/index.js';
import { createLoop } from '../../__test__/support/loop.js';
import { act, always, call, say } from '../../__test__/support/script.js';
import { textOf } from '../../__test__/support/wire.js';

const ACCOUNT = 'What was tried here, what it showed and what was decided. '.repeat(5);
const PATIENCE_MS = 120_000;

/**
 * Plays a turn and lets one engine summarize it.
 *
 * @param turn - a played turn.
 * @param summaryEngine - `replay` or `fork`.
 * @returns what it took: `requests`, `input`, `prefix` (of the input, equal to the parent's last request from
 *   its start), `output`, `copied` events; `before` and `after` in tokens; `words` kept of `said`.
 */
export async function measure(turn, summaryEngine) {
  const outputs = [...turn.outputs];
  const loop = await createLoop({
    match: {
      summary: ({ options }) => lastText(options).startsWith('[turn memory]'),
      worker: ({ options }) => (options.tools ?? []).some(({ name }) => name === 'draft_grep'),
    },
    steps: { main: turn.steps, summary: always(answer), worker: always(work) },
    async before(ctx) {
      await ctx.plugin(SubagentRuntime);
      await ctx.plugin(forkProvider, {});
    },
    invariants: false,
  });
  let copied = 0;
  loop.ctx.on('agent/created', ({ agent }) => {
    copied += agent.session.header.origin === 'subagent' ? agent.session.header.seedLength ?? 0 : 0;
  });
  try {
    for (const name of turn.tools) loop.ctx.tools.register(openTool(name, outputs));
    await loop.mount(turnMemory, turnMemory.Config({ summaryEngine }));
    const agent = await loop.agent({ seed: historyOf(turn.history) });
    await agent.prompt(turn.prompt);
    const number = agent.session.events.findLast(({ type }) => type === 'turn/end').data.turn;
    const checkpoint = await landed(agent, number);
    return { ...costOf(loop, copied), ...kept(loop, agent, checkpoint) };
  } finally {
    await loop.dispose();
  }
}

/** A tool that takes whatever a recording passed and returns what it recorded. */
function openTool(name, outputs) {
  return {
    name,
    description: `The recorded ${name} tool. ${'It does what its name says. '.repeat(10)}`,
    parameters: { type: 'object', properties: {}, additionalProperties: true },
    output: { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] },
    async execute() {
      const { text, isError } = outputs.shift() ?? { text: '' };
      if (isError) throw new Error(text);
      return text;
    },
  };
}

function historyOf(exchanges) {
  const session = Session.create('history');
  exchanges.forEach(({ prompt, answer: words }, index) => {
    const turn = index + 1;
    session.append('turn/start', { turn });
    session.append('step/start', { turn, step: 1 });
    const user = createUserMessage({ content: [{ type: 'text', text: prompt }], source: { kind: 'user' } });
    session.append('user/message', user, { surfaceOp: 'append' });
    const message = createAssistantMessage({ content: [{ type: 'text', text: words }], source: { provider: 'x', model: 'x' } });
    session.append('assistant/message', { turn, step: 1, message }, { surfaceOp: 'append', sourceEventSeqs: [] });
    session.append('step/end', { turn, step: 1 });
    session.append('turn/end', { turn, reason: { kind: 'completed' } });
  });
  return session.seq === 0 ? undefined : session.events;
}

function lastText({ messages }) {
  return textOf(messages.at(-1).content);
}

function asked(instruction) {
  return [...instruction.matchAll(/^<working:(\d+)> TO WRITE/gm)].map(([, id]) => Number(id));
}

function answer({ options }) {
  return say(asked(lastText(options)).map((id) => `<working:${id}>\n${ACCOUNT}\n</working:${id}>`).join('\n'));
}

/** A worker at its best: everything in one step, then DONE. */
function work({ options }) {
  if (options.messages.at(-1).content.some(({ type }) => type === 'tool-result')) return say('DONE');
  const instruction = options.messages.map(({ content }) => textOf(content))
    .findLast((text) => text.startsWith('[turn memory]'));
  return act(asked(instruction).map((id) => call(`w${id}`, 'draft_replace_segment', { id, content: ACCOUNT })));
}

async function landed(agent, turn) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = agent.surface().find(({ data }) => data.source?.plugin === 'turn-memory' && data.source.turn === turn);
    if (found) return found;
    assert.ok(Date.now() < deadline, `no checkpoint of turn ${turn}`);
    await sleep(5);
  }
}

/** A request as a provider's cache sees it: system, tools, then the messages. */
function parts({ options }) {
  return [
    options.system ?? '',
    JSON.stringify(options.tools ?? []),
    ...options.messages.map(({ role, content }) => JSON.stringify({ role, content })),
  ];
}

function tokens(text) {
  return Math.ceil(text.length / 4);
}

function costOf(loop, copied) {
  const parent = parts(loop.adapter.of('main').at(-1));
  const requests = [...loop.adapter.of('summary'), ...loop.adapter.of('worker')];
  let input = 0;
  let prefix = 0;
  for (const request of requests) {
    const own = parts(request);
    const equal = own.findIndex((part, index) => part !== parent[index]);
    input += own.reduce((sum, part) => sum + tokens(part), 0);
    prefix += own.slice(0, equal < 0 ? own.length : equal).reduce((sum, part) => sum + tokens(part), 0);
  }
  const output = loop.ctx.agents === undefined ? 0 : outputOf(requests);
  return { requests: requests.length, input, prefix, output, copied };
}

/** Output tokens of the scripted answers: text and tool arguments. */
function outputOf(requests) {
  return requests.reduce((sum, request) => {
    const step = request.lane === 'summary' ? answer(request) : work(request);
    const written = (step.text ?? '') + (step.calls ?? []).map((one) => one.name + one.arguments).join('');
    return sum + tokens(written);
  }, 0);
}

/** Whether every word of a person and of the assistant in the span stands in the checkpoint, byte for byte. */
function kept(loop, agent, checkpoint) {
  const { events } = agent.session;
  const text = textOf(checkpoint.data.content);
  const verbatim = checkpoint.sourceEventSeqs.flatMap((seq) => {
    const { type, data } = events[seq];
    if (type === 'user/message') return data.source.kind === 'user' ? [textOf(data.content)] : [];
    return type === 'assistant/message' ? data.message.content.filter((b) => b.type === 'text').map((b) => b.text) : [];
  }).filter((words) => words !== '');
  let at = 0;
  let found = 0;
  for (const words of verbatim) {
    const next = text.indexOf(`>\n${words}\n</`, at);
    if (next < 0) continue;
    found += words.length;
    at = next + words.length;
  }
  const price = (seq) => {
    const message = agent.session.deriveEventMessage(events[seq]);
    return message === null ? 0 : loop.ctx.tokenMeter.estimateMessage(message);
  };
  return {
    before: checkpoint.sourceEventSeqs.reduce((sum, seq) => sum + price(seq), 0),
    after: price(checkpoint.seq),
    words: found,
    said: verbatim.reduce((sum, words) => sum + words.length, 0),
  };
}
