/**
 * Replays a recorded session step by step on the real harness packages, pruning before each request as a
 * policy does, and scores it.
 */
import { Context } from '@deepseek-ai/cordis';
import { AgentRegistry } from '@deepseek-ai/dsh-agent';
import { ToolResultPruner } from '@deepseek-ai/dsh-compaction-tool-result-pruner';
import { LlmRuntime } from '@deepseek-ai/dsh-llm';
import { Session, SessionStore } from '@deepseek-ai/dsh-session';
import { SessionProjectionRegistry } from '@deepseek-ai/dsh-session-projection';
import { TokenMeter } from '@deepseek-ai/dsh-token-meter';
import * as prune from '../../plugin/prune/index.js';
import { wireFaults } from './faults.js';
import { Scorer, troubleLines, visibleText } from './scorer.js';

/** The stock pruner's own lengths, and the share of the window at which compaction calls it. */
const STOCK = { thresholdChars: 8192, headChars: 4096, tailChars: 1024 };
const TRIGGER = 0.8;

/** What a replay takes over from a record; the rest is the harness's own bookkeeping. */
const REPLAYED = new Set([
  'turn/start',
  'turn/end',
  'user/message',
  'assistant/message',
  'tool/call',
  'tool/result',
]);

/** No pruning at all: what the session weighs. */
export const NOTHING = {};

/** The stock pruner, its lengths scaled to free more (below 1) or less (above 1). */
export function stock(scale = 1) {
  const lengths = Object.entries(STOCK).map(([key, value]) => [key, Math.round(value * scale)]);
  return { pruner: Object.fromEntries(lengths), trigger: TRIGGER };
}

/** Layer 1 with the `rules` judge at the moments at which the stock pruner is called, with a fixed budget. */
export function rulesInstead(alwaysTrimRatio) {
  const config = { judge: 'rules', judgeOn: 'always', compactReceipts: false, alwaysTrimRatio };
  return { config, trigger: TRIGGER };
}

/** Both layers with the `rules` judge as they come, at their own moments. */
export const DEFAULTS = { config: { judge: 'rules' } };

/** Layer 2 alone, from the pressure at which layer 1 would begin. */
export const RECEIPTS = {
  config: { judge: 'rules', neverPruneTools: [], softLimit: '100%', compactSoftLimit: '55%' },
};

async function composition({ pruner, config }) {
  const ctx = new Context();
  await ctx.plugin(LlmRuntime);
  await ctx.plugin(SessionStore);
  await ctx.plugin(AgentRegistry);
  await ctx.plugin(SessionProjectionRegistry);
  await ctx.plugin(TokenMeter);
  await ctx.plugin(ToolResultPruner, pruner);
  if (config) await ctx.plugin(prune, prune.Config(config));
  return ctx;
}

/**
 * @param rows - the recorded events, in order.
 * @param policy - one of the policies above.
 * @param window - the model's context window, in tokens.
 * @returns a promise of `{ tokens, chars, needed, cut, receipts, evidenceLost, faults }`: what the surface
 *   weighs at the end, results needed and dropped, rewritten bodies, receipts, lines of trouble that receipts
 *   took away, and every wire fault that stood in a request.
 */
export async function replay(rows, policy, window) {
  const ctx = await composition(policy);
  const session = Session.create('replay');
  const agent = { id: session.id, session, options: { provider: 'p', model: 'm' }, ctx, status: 'running' };
  session.append('request/context', { provider: 'p', model: 'm', contextWindow: window });
  const scorer = new Scorer();
  const faults = new Set();
  const places = new Map();
  let step;
  // Records need not hold the ends of steps, which the token meter asks for.
  const closeStep = () => {
    if (step) session.append('step/end', step);
    step = undefined;
  };
  for (const [place, { type, data, surfaceOp }] of rows.entries()) {
    if (!REPLAYED.has(type)) continue;
    if (type === 'turn/end' || type === 'assistant/message') closeStep();
    if (type === 'assistant/message') {
      await pruneBefore(ctx, agent, policy, window);
      for (const fault of wireFaults(session, places)) faults.add(fault);
      scorer.request(session, { type, data });
      step = { turn: data.turn, step: data.step };
      session.append('step/start', step);
    }
    const event = session.append(type, data, surfaceOp && appended(type, session));
    places.set(event.seq, place);
    if (type === 'tool/result') scorer.result(event);
  }
  const { surfaceTokens: tokens } = ctx.tokenMeter.measure(session);
  const chars = session.surface.nodes.reduce((sum, seq) => sum + visibleText(session.events[seq]).length, 0);
  await ctx.fiber.dispose();
  return { tokens, chars, needed: scorer.needed.size, ...rewrites(session), faults: [...faults] };
}

/** A result cites its call; the event before it suffices here. */
function appended(type, session) {
  const cited = { 'user/message': undefined, 'assistant/message': [] };
  return { surfaceOp: 'append', sourceEventSeqs: type in cited ? cited[type] : [session.seq - 1] };
}

async function pruneBefore(ctx, agent, { config, pruner, trigger = 0 }, window) {
  if (!config && !pruner) return;
  if (trigger > 0 && ctx.tokenMeter.measure(agent.session).totalTokens < trigger * window) return;
  if (pruner) {
    ctx.get('toolResultPruner').pruneSession(agent.session);
    return;
  }
  const { signal } = new AbortController();
  await ctx.waterfall('agent/pre-step', { agent, messages: [], turn: 1, step: 1, signal }, async () => ({}));
}

function rewrites({ events }) {
  const found = { cut: 0, receipts: 0, evidenceLost: 0 };
  for (const event of events) {
    if (event.surfaceOp?.op !== 'replace') continue;
    const isReceipt = visibleText(event).startsWith('[compacted');
    found[isReceipt ? 'receipts' : 'cut'] += 1;
    if (!isReceipt) continue;
    for (const seq of event.sourceEventSeqs) {
      if (events[seq].type !== 'tool/result') continue;
      found.evidenceLost += troubleLines(visibleText(original(events, seq))).length;
    }
  }
  return found;
}

function original(events, seq) {
  let event = events[seq];
  while (event.surfaceOp?.op === 'replace') event = events[event.surfaceOp.start];
  return event;
}
