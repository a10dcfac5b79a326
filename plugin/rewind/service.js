/** `ctx.rewind`: folds everything since the latest mark into a report (docs/rewind.md). */
import { Service } from '@deepseek-ai/cordis';
import { harness } from '../host/compat.js';
import { follow } from '../host/abort.js';
import { RewindError } from '../host/error.js';
import { acquire, holder } from '../host/lock.js';
import { observeReport } from '../host/reports.js';
import { observe } from '../host/surface.js';
import { openTurn } from '../host/turn.js';
import { Fold } from './fold.js';
import { Attempts } from './attempts.js';

const OWNER = 'rewind';

/** The fold service. Its state lives in `engine`, for a service is handed out as a proxy. */
export class RewindService extends Service {
  /**
   * @param ctx - the entry plugin's context.
   * @param config - the resolved row.
   */
  constructor(ctx, config) {
    super(ctx, 'rewind');
    this.engine = new Engine(ctx, config);
  }

  /**
   * Folds everything since the session's latest mark into one generated report. Inside a tool call it folds
   * up to that call; outside one it folds up to the tail, inside `agent.runMaintenance` where the agent offers it.
   *
   * @param agent - the agent whose session is folded.
   * @param signal - cancels the fold before its commit; its exact reason is thrown then.
   * @returns `{ markId, foldedNodes, start, end, foldedChars, reportChars, foldedTokens?, reportTokens?, usage?,
   * warning? }`: seqs, UTF-16 code units, estimated tokens.
   * @throws {RewindError} `NO_CHECKPOINT`, `EMPTY_REGION`, `UNBALANCED`, `FOLD_IN_PROGRESS`, `CHANGED`, `SHRINK`,
   * `NO_ROUTE` or `SUMMARY_FAILED`; nothing was written then.
   */
  rewind(agent, signal) {
    return this.engine.rewind(agent, signal);
  }
}

class Engine {
  constructor(ctx, config) {
    this.host = { ctx, config };
    this.attempts = new Attempts(ctx);
    this.running = new Set();
    ctx.on('session/event', (session, event) => {
      observe(session, event);
      observeReport(session, event);
    });
    ctx.on('agent/disposed', ({ agent }) => this.end((fold) => fold.session === agent.session, 'its agent was disposed'));
    ctx.effect(() => () => this.end(() => true, 'its plugin was disposed'));
  }

  /**
   * Whether a region that was refused as too small is no larger now (docs/rewind.md 4.4).
   *
   * @param agent - the agent whose session it is.
   * @param mark - the mark the region starts from, as `readMark` reads it.
   * @returns true only for a mark whose fold was refused for its size.
   */
  async isStillTooSmall(agent, mark) {
    const refused = this.attempts.sizeRefused(agent.session, mark.id);
    if (refused === undefined) return false;
    try {
      return this.preview(agent, mark).foldedChars <= refused;
    } catch {
      return true;
    }
  }

  /**
   * Plans a fold without asking a model or writing anything.
   *
   * @param agent - the agent whose session it is.
   * @param mark - the mark to fold from, as `readMark` reads it.
   * @returns the facts of the fold that would be made.
   * @throws {RewindError} what the fold would be refused for.
   */
  preview(agent, mark) {
    const fold = new Fold(this.host, agent, follow());
    return fold.preview(mark);
  }

  /**
   * Looks at a fold without making it; see {@link Fold.outlook}.
   *
   * @param agent - the agent whose session it is.
   * @param mark - the mark to fold from, as `readMark` reads it.
   * @returns the outlook.
   * @throws {RewindError} what the fold would be refused for before there is a plan.
   */
  outlook(agent, mark) {
    return new Fold(this.host, agent, follow()).outlook(mark);
  }

  end(wanted, why) {
    for (const fold of this.running) {
      if (wanted(fold)) fold.stop.abort(new Error(`the fold was ended: ${why}`));
    }
  }

  async rewind(agent, signal) {
    const { session } = agent;
    const events = harness.events(session);
    const turn = openTurn(events);
    if (turn !== undefined && agent.status === 'running' && !hasOpenCall(session, events)) {
      throw new RewindError('FOLD_IN_PROGRESS', 'A turn is running: fold from a tool call of this turn, or ask again '
        + 'when the agent is idle. Nothing was changed.');
    }
    if (turn === undefined && agent.runMaintenance) {
      return this.maintain(agent, signal);
    }
    return this.fold(agent, signal);
  }

  async maintain(agent, signal) {
    let job;
    try {
      job = agent.runMaintenance((own) => this.fold(agent, signal, own));
    } catch (cause) {
      throw new RewindError('FOLD_IN_PROGRESS', 'The agent is at work: ask again when it is idle. Nothing was changed.', { cause });
    }
    const result = await job;
    // A fold inside a turn is made durable at the next step; between turns nothing else would.
    await this.host.ctx.get('sessions')?.flush(agent.session).catch((error) => this.host.ctx.logger?.warn(error));
    return result;
  }

  async fold(agent, ...signals) {
    const release = acquire(agent.session, OWNER);
    if (!release) {
      throw new RewindError('FOLD_IN_PROGRESS', `The context of this session is being rewritten by ${holder(agent.session)}: `
        + 'wait for it to end, then fold again. Nothing was changed.');
    }
    const stop = follow(...signals);
    const fold = new Fold(this.host, agent, stop);
    this.running.add(fold);
    try {
      const result = await fold.run();
      this.attempts.forget(agent.session);
      return result;
    } catch (error) {
      this.attempts.record(agent.session, error);
      throw error;
    } finally {
      this.running.delete(fold);
      stop.release();
      release();
    }
  }
}

/** Whether the last assistant message has a call whose result has not come: code that runs inside that call. */
function hasOpenCall(session, events) {
  const answered = new Set();
  for (let at = session.surface.nodes.length - 1; at >= 0; at -= 1) {
    const { type, data } = events[session.surface.nodes[at]];
    if (type === 'tool/result') answered.add(data.message.content[0]?.toolCallId ?? data.message.source?.callId);
    if (type !== 'assistant/message') continue;
    return data.message.content.some((block) => block.type === 'tool-call' && !answered.has(block.id));
  }
  return false;
}
