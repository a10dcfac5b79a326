/**
 * The package's own service as a driver: real LLM runtime, session store, token meter and invariant
 * companions, with a model that answers as the recipe says and, in the middle of its answer, lets the session
 * go on.
 */
import { Service } from '@deepseek-ai/cordis';
import { LlmAdapter, LlmError } from '@deepseek-ai/dsh-llm';
import * as rewind from '../../index.js';
import * as bundled from '../../plugin/checkpoint/index.js';
import { createLoop } from '../support/loop.js';
import { snapshot } from './checks.js';
import { RETRIES } from './trial.js';

/** The reason of an abort that a recipe asks for; it must come back as it is. */
const STOPPED = new Error('stopped by the recipe');

/** The routes of generated sessions and of the recorded ones. */
const PROVIDERS = ['laws', 'x', 'deepseek', 'deepseek-official'];

/** Answers report requests, by session. */
class Model extends LlmAdapter {
  asks = new Map();

  constructor({ images }) {
    super();
    this.images = images;
  }

  async resolveModel(provider, model) {
    return {
      provider,
      id: model,
      name: model,
      reasoning: { efforts: [{ id: 'off', name: 'Off' }] },
      ...(this.images ? {} : { inputModalities: ['text'] }),
    };
  }

  async *stream(options) {
    const ask = this.asks.get(options.sessionId);
    ask.requests.push(options);
    const attempt = ask.requests.length;
    const { fail, abort, empty = 0 } = ask.spec.reply;
    const text = attempt <= empty ? '' : ask.reply;
    yield { type: 'block-start', index: 0, blockType: 'text' };
    if (attempt === 1) ask.during();
    ask.atCommit = snapshot(ask.session);
    if (abort) {
      ask.controller.abort(STOPPED);
      throw STOPPED;
    }
    if (fail) throw new LlmError('scripted failure', 'SERVER', { status: 500 });
    yield { type: 'text-delta', index: 0, text };
    yield { type: 'block-end', index: 0, block: { type: 'text', text } };
    yield { type: 'usage', usage: { inputTokens: 10, outputTokens: 5 } };
    ask.atCommit = snapshot(ask.session);
    yield { type: 'finish', reason: { kind: 'stop' } };
  }
}

/** A foreign `ctx.checkpoint` whose marks are the stage's own and whose stamp can fail. */
export class ForeignCheckpoint extends Service {
  stages = new Map();
  failures = 0;

  constructor(ctx) {
    super(ctx, 'checkpoint');
  }

  /** The stamp of a mark is kept beside it, as a storage would. */
  async latestMark(sessionId) {
    const mark = this.stages.get(sessionId)?.marks.at(-1);
    return mark && { ...mark, foldedAt: mark.foldedAt ?? null };
  }

  async hasActive(sessionId) {
    return (await this.latestMark(sessionId))?.foldedAt === null;
  }

  async completeFold(sessionId, markId) {
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error('disk full');
    }
    for (const mark of this.stages.get(sessionId).marks) if (mark.id === markId) mark.foldedAt = 1;
  }
}

/**
 * Mounts one composition.
 *
 * @param options - `meter`, `images`: whether the token meter is there, whether the model takes images;
 * `overridden`: whether reports go to a route of their own; `own`: the bundled checkpoint provider instead of
 * a foreign one.
 * @returns a promise of `{ world, driver, dispose }`.
 */
export async function mountService({ meter, images, overridden, own, toolName, companions = true }) {
  const model = new Model({ images });
  const route = { provider: 'laws', model: 'laws-1' };
  const other = { summarizationProvider: 'laws', summarizationModel: 'laws-2' };
  const loop = await createLoop({
    meter,
    invariants: companions,
    before: (ctx) => (own ? undefined : ctx.plugin(ForeignCheckpoint)),
    plugins: [
      ...(own ? [[bundled, {}]] : []),
      [
        rewind,
        { maxSummarizationRetries: RETRIES, checkpointToolName: toolName, ...(overridden ? other : {}) },
      ],
    ],
  });
  const { ctx } = loop;
  ctx.llm.registerAdapter(PROVIDERS, model);
  const driver = {
    overridden,
    images,
    toolName,
    // The service takes a mark when it is called, not when it is awaited.
    ...(own ? { onMark: ({ session }) => void ctx.checkpoint.mark(session) } : {}),
    async latestMark(stage) {
      if (!own) ctx.checkpoint.stages.set(stage.session.id, stage);
      const mark = await ctx.checkpoint.latestMark(stage.session.id);
      return mark && { ...mark, folded: mark.foldedAt !== null };
    },
    async fold(stage, ask) {
      const { session } = stage;
      const controller = new AbortController();
      const entry = { ...ask, session, controller, requests: [], atCommit: snapshot(session) };
      model.asks.set(session.id, entry);
      if (!own) ctx.checkpoint.failures = { rejects: 9, 'rejects once': 1 }[ask.spec.reply.stamp] ?? 0;
      const agent = { id: session.id, session, options: { ...route }, ctx };
      try {
        return { ...entry, result: await ctx.rewind.rewind(agent, controller.signal), ...seen(entry) };
      } catch (error) {
        return { error, ...seen(entry) };
      }
    },
  };
  const seen = (entry) => ({ requests: entry.requests, atCommit: entry.atCommit, stopped: STOPPED });
  return { world: { ctx, meter: meter ? ctx.tokenMeter : undefined }, driver, dispose: () => loop.dispose() };
}

/** The compositions that the laws are tried in, in turn. */
export const COMPOSITIONS = [
  { meter: true, images: true, overridden: false, own: false },
  { meter: false, images: false, overridden: true, own: false, toolName: 'bookmark' },
  { meter: true, images: false, overridden: false, own: true },
];
