/**
 * What the prune tests share: a loop with the real pruner and compaction, and readings that fill a window.
 */
import assert from 'node:assert/strict';
import { ToolResultPruner } from '@deepseek-ai/dsh-compaction-tool-result-pruner';
import { BasicCompactionEngine } from '@deepseek-ai/dsh-compaction-basic';
import * as prune from '../../plugin/prune/index.js';
import { createLoop } from '../support/loop.js';
import { act, call, say } from '../support/script.js';
import { bashTool, readTool } from '../support/tools.js';
import { textOf } from '../support/wire.js';

export { prune };

/** Text without a word of trouble, at least `chars` long, different for each name. */
export function page(name, chars = 4000) {
  const line = `The ${name} part of the report goes on about plain matters in plain words.\n`;
  return line.repeat(Math.ceil(chars / line.length));
}

/** One step that reads each of the paths in parallel. */
export function reads(...paths) {
  return act(paths.map((path, at) => call(`${path}#${at}#${Math.random()}`, 'read', { path })));
}

/**
 * A loop with the real pruner and compaction around the plugin. The compaction never summarizes by itself
 * unless `compaction` says so.
 */
export async function stage({
  config = {},
  steps = [],
  window = 20_000,
  pages = {},
  pruner = {},
  compaction = { auto: false },
  plugins = [],
  before,
  after = [],
  lanes = {},
  ...more
} = {}) {
  const loop = await createLoop({
    model: { context: { contextWindow: window } },
    tools: [readTool({ '*': page('other'), ...pages }), bashTool({ '*': page('command') })],
    plugins: [
      ...plugins,
      [ToolResultPruner, pruner],
      [BasicCompactionEngine, compaction],
      [prune, prune.Config(config)],
      ...after,
    ],
    steps: { main: [...steps, say('done')], ...lanes },
    before,
    ...more,
  });
  return loop;
}

/** Texts of the results on the surface, in order, with their seqs. */
export function resultsOn(agent) {
  return agent
    .surface()
    .filter(({ type }) => type === 'tool/result')
    .map(({ seq, surfaceOp, data }) => ({
      seq,
      rewritten: surfaceOp !== 'append',
      text: textOf(data.message.content[0].content),
    }));
}

/** Receipts on the surface. */
export function receiptsOn(agent) {
  return agent.surface().filter(({ data }) => data.source?.plugin === 'rewind-prune');
}

/** Every request that the model got was one a provider takes, and so is the surface now. */
export function assertValid(loop, agent) {
  assert.deepEqual(loop.rejected, []);
  assert.equal(agent.fault(), undefined);
}

/** Each replacement directly follows its price, which names exactly the range it replaces. */
export function assertPriced(agent) {
  const { events } = agent.session;
  for (const event of events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace')) {
    const price = events[event.seq - 1];
    assert.match(price.type, /^compaction\/(prune|summary)$/, `no price before seq ${event.seq}`);
    assert.deepEqual(price.data.shadowedRange, { start: event.surfaceOp.start, end: event.surfaceOp.end });
    for (const seq of price.data.shadowedSeqs) assert.ok(event.sourceEventSeqs.includes(seq));
  }
}

/** Path and tool of the call that a result answers. */
export function callOf(session, seq) {
  const { callId } = session.events[seq].data.message.source;
  for (let at = seq; at >= 0; at -= 1) {
    const { type, data } = session.events[at];
    const found = type === 'assistant/message' && data.message.content.find(({ id }) => id === callId);
    if (found) return { tool: found.name, path: JSON.parse(found.arguments).path };
  }
  return {};
}

/**
 * A plugin that registers a judge.
 *
 * @param answer - given `{ seq, axis, path, tool }` of a question, its value, or undefined for none; may
 *   wait.
 * @param more - further fields of the judge.
 * @returns the plugin, with the questions it was `asked`.
 */
export function judgePlugin(answer, more = {}) {
  const asked = [];
  return {
    asked,
    name: 'fixed-judge',
    inject: ['contextJudge'],
    apply(ctx) {
      ctx.contextJudge.registerJudge({
        id: 'fixed',
        scale: 'probability',
        limits: { maxInputTokens: 100_000, maxQuestions: 100 },
        ready: async () => ({ ok: true }),
        async ask({ state, questions }, { agent, signal }) {
          asked.push({ state, ids: questions.map(({ id }) => id) });
          const answers = new Map();
          for (const { id } of questions) {
            const [axis, seq] = id.split('_s');
            const p = await answer({ axis, seq: Number(seq), ...callOf(agent.session, Number(seq)), signal });
            if (p !== undefined) answers.set(id, { p });
          }
          return { answers, model: 'fixed-1' };
        },
        ...more,
      });
    },
  };
}
