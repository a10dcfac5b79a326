/**
 * `@dpskh/tool-rewind/turn-memory`: after every ended turn a checkpoint takes the place of the turn's process.
 * Words of persons and of the assistant stay byte for byte, the log keeps all, `expand_turn` tells it again.
 */
import { harness } from '../host/compat.js';
import { contentOf } from '../host/events.js';
import { Coordinators } from './coordinator.js';
import { fork } from './fork.js';
import { GUIDANCE } from './prompts.js';
import { Recall, findTurn, transcriptOf } from './recall.js';
import { replay } from './replay.js';
import { SKILLS } from './skills.js';
import { compactTool, expandTool } from './tools.js';
import { Trace } from './trace.js';
import { Workers } from './workers.js';

export { Config } from './config.js';

/** The plugin's name in logs. */
export const name = 'tool-rewind-turn-memory';

/** Services that must exist before the plugin starts. */
export const inject = ['agents', 'llm', 'sessions', 'systemPrompt', 'tokenMeter', 'tools'];

/**
 * Registers tools, guidance and skills, and follows every eligible session, those already live included.
 *
 * @param {import('@deepseek-ai/cordis').Context} ctx - the plugin's context.
 * @param {object} config - the validated row.
 * @throws when the mounted harness is of an unknown form.
 */
export function apply(ctx, config) {
  harness.assertSupported();
  const workers = new Workers(ctx);
  const trace = new Trace(ctx.logger, config);
  const engines = {
    replay: (agent, plan, round) => replay(ctx, agent, plan, round),
    fork: (agent, plan, round) => fork(workers, agent, plan, round),
  };
  const coordinators = new Coordinators({
    ctx,
    config,
    trace,
    fill: engines[config.summaryEngine],
    landed: (session, plan, event) => landed(ctx, config, trace, session, plan, event),
  });
  ctx.tools.register(expandTool(config, new Recall(ctx, config, workers)));
  ctx.tools.register(compactTool(coordinators));
  ctx.systemPrompt.section({ name: 'turn-memory', order: 120, text: GUIDANCE });
  ctx.inject(['skills'], (child) => {
    for (const skill of SKILLS) child.skills.register(skill);
  });
  ctx.effect(() => () => trace.settled(), 'turn-memory: files');
}

/** What follows a landing; none of it can undo it. */
function landed(ctx, config, trace, session, plan, event) {
  ctx.sessions.flush(session).catch((error) => ctx.logger?.error(error));
  trace.raw(session, plan.turn, () => transcriptOf(session, findTurn(session, plan.turn)));
  trace.dump(session, { engine: config.summaryEngine, plan, event, textOf: (seq) => textOf(session, seq) });
}

/** A node's text as it reaches a request. */
function textOf(session, seq) {
  if (seq === undefined) return '(none)';
  const blocks = contentOf(harness.eventAt(session, seq));
  return blocks.map((block) => block.text ?? (block.type === 'tool-call' ? `[${block.name}] ${block.arguments}` : `[${block.type}]`))
    .join('\n');
}
