/** One arm of the soak, in a process of its own: `soak-arm.js with|without FOLDS SESSIONS`. */
import { getEventListeners } from 'node:events';
import { Context } from '@deepseek-ai/cordis';
import {
  LlmAdapter, LlmRuntime, createAssistantMessage, createToolResultMessage, createUserMessage,
} from '@deepseek-ai/dsh-llm';
import { SessionStore } from '@deepseek-ai/dsh-session';
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt';
import { TokenMeter } from '@deepseek-ai/dsh-token-meter';
import { SessionProjectionRegistry } from '@deepseek-ai/dsh-session-projection';
import { ToolRuntime } from '@deepseek-ai/dsh-tools';
import * as rewind from '../index.js';
import * as checkpoint from '../plugin/checkpoint/index.js';
import { harness } from '../plugin/host/compat.js';
import { holder } from '../plugin/host/lock.js';

const [arm, folds, count] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const ROUTE = { provider: 'soak', model: 'soak' };
const REPORT = `## Findings\n${'Nothing of note was found in this file.\n'.repeat(4)}`;
const RESULT = 'x'.repeat(2000);

/** Answers at once and keeps nothing. */
class Instant extends LlmAdapter {
  async resolveModel(provider, model) {
    return { provider, id: model, name: model };
  }

  async* stream() {
    yield { type: 'block-start', index: 0, blockType: 'text' };
    yield { type: 'text-delta', index: 0, text: REPORT };
    yield { type: 'block-end', index: 0, block: { type: 'text', text: REPORT } };
    yield { type: 'finish', reason: { kind: 'stop' } };
  }
}

/** Appends one exploration and returns the seqs of its nodes. */
function explore(session, turn) {
  const callId = `c${turn}`;
  session.append('turn/start', { turn });
  session.append('step/start', { turn, step: 1 });
  const message = createAssistantMessage({
    content: [{ type: 'tool-call', id: callId, name: 'read', arguments: `{"path":"file-${turn}.rs"}` }],
    source: ROUTE,
  });
  const { seq: asked } = session.append('assistant/message', { turn, step: 1, message }, {
    surfaceOp: 'append', sourceEventSeqs: [],
  });
  const { seq: called } = session.append('tool/call', {
    turn, step: 1, callId, name: 'read', arguments: `{"path":"file-${turn}.rs"}`,
  });
  const content = [{ type: 'text', text: RESULT }];
  const result = createToolResultMessage({ callId, content, isError: false });
  const { seq: answered } = session.append('tool/result', { turn, step: 1, message: result }, {
    surfaceOp: 'append', sourceEventSeqs: [called],
  });
  session.append('step/end', { turn, step: 1 });
  session.append('turn/end', { turn, reason: { kind: 'completed' } });
  return [asked, answered];
}

/** The fold's appends by hand, as large as the fold's own: what the session itself costs. */
function replaceByHand(session, seqs, turn) {
  const range = { start: seqs[0], end: seqs.at(-1) };
  const what = `file-${turn}.rs`;
  const text = `[rewind report of mark ${turn}] 1 step folded, log seq ${range.start} to ${range.end}; the `
    + `checkpoint is complete.\n\n${REPORT}\n## Evidence from the log\nMade by code from the log; [s12] is `
    + 'log seq 12.\n### Read\n'
    + `- ${what} [s${range.end}]\n### Where it stopped\n- ${what} → ok [s${range.end}]`;
  const line = (kind) => ({ kind, outcome: 'ok', seqs: [range.end], times: 1, what });
  const source = {
    kind: 'plugin', plugin: 'soak', markId: turn, foldedNodes: 2, ...range, foldedChars: 2021,
    reportChars: text.length, foldedTokens: 527, reportTokens: 111, report: 'model', language: 'en',
    ledger: { leftOut: 0, lines: [line('read'), line('stopped')] },
  };
  session.append('compaction/prune', { shadowedRange: range, shadowedSeqs: seqs, shadowedTokenCount: 527 });
  session.append('user/message', createUserMessage({ content: [{ type: 'text', text }], source }), {
    surfaceOp: harness.replaceOp(range.start, range.end), sourceEventSeqs: seqs,
  });
}

/** Resident memory once the collector has given back what it can: free pages are nobody's growth. */
async function resident() {
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage.rss();
}

const handles = () => process.getActiveResourcesInfo().filter((kind) => !/^(Pipe|TTY)/.test(kind)).length;

const ctx = new Context();
for (const plugin of [LlmRuntime, SessionStore, ToolRuntime, SessionProjectionRegistry, TokenMeter]) {
  await ctx.plugin(plugin);
}
await ctx.plugin(SystemPrompt, { persona: 'soak' });
ctx.llm.registerAdapter([ROUTE.provider], new Instant());
const sessions = Array.from({ length: count }, (_, index) => ctx.sessions.create(`soak-${index}`));
function listeners() {
  const { _hooks: hooks } = ctx.events;
  return Object.values(hooks).reduce((sum, list) => sum + list.length, 0);
}
const atStart = { listeners: listeners(), handles: handles() };
const fibers = arm === 'with' ? [ctx.plugin(checkpoint, {}), ctx.plugin(rewind, {})] : [];
for (const fiber of fibers) await fiber;

const { signal } = new AbortController();
const foldOne = async (number) => {
  const session = sessions[number % count];
  const turn = Math.floor(number / count) + 1;
  if (arm === 'with') await ctx.checkpoint.mark(session);
  const seqs = explore(session, turn);
  if (arm === 'with') await ctx.rewind.rewind({ id: session.id, session, options: ROUTE }, signal);
  else replaceByHand(session, seqs, turn);
};

// The first round compiles and fills what is filled once; it is no growth.
const warm = Math.min(folds, count * 4);
for (let number = 0; number < warm; number += 1) await foldOne(number);
const before = await resident();
for (let number = warm; number < warm + folds; number += 1) await foldOne(number);
const growth = await resident() - before;

const locks = sessions.filter((session) => holder(session) !== undefined).length;
const waiting = getEventListeners(signal, 'abort').length;
for (const fiber of fibers) await fiber.dispose();
await resident();
const left = [
  [locks, 'locks'],
  [waiting, 'listeners of the caller\'s signal'],
  [listeners() - atStart.listeners, 'listeners'],
  [handles() - atStart.handles, 'handles'],
].filter(([number]) => number !== 0).map(([number, what]) => `${number} ${what}`);
process.stdout.write(`${JSON.stringify({ growth, left })}\n`);
