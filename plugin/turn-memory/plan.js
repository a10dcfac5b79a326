/** One turn's checkpoint, from its span to its landing. Everything between the reads is the core's decision. */
import { randomUUID } from 'node:crypto';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { landMessage, priceOf } from '../host/commit.js';
import { harness } from '../host/compat.js';
import { RewindError } from '../host/error.js';
import { native } from '../native.js';
import { scriptOf } from './script.js';
import { PLUGIN, spanOf, turnsOf, WHOLE_TURN } from './turns.js';

/** The checkpoint format this package writes. */
export const FORMAT = 5;

/**
 * Runs a step of the core and gives its refusal the package's error class. The code stands in front of the
 * sentence: the harness shows a model the message alone.
 *
 * @param action - the step.
 * @returns what it returns.
 * @throws {RewindError} the classified refusal.
 */
export function classified(action) {
  try {
    return action();
  } catch (error) {
    if (error instanceof RewindError || typeof error?.code !== 'string') throw error;
    throw refusal(error.code, error.message, error);
  }
}

/**
 * @param code - the stable code.
 * @param sentence - what happened and what to do next.
 * @param cause - the error behind it.
 * @returns {RewindError} an error whose text begins with its code.
 */
export function refusal(code, sentence, cause) {
  return new RewindError(code, `${code}: ${sentence}`, cause === undefined ? {} : { cause });
}

/** The plan of one turn's checkpoint. */
export class CheckpointPlan {
  /**
   * Plans the checkpoint of a turn, without a model and without writing.
   *
   * @param meter - `ctx.tokenMeter`.
   * @param session - the session.
   * @param turn - the turn's number.
   * @param config - the resolved row.
   * @throws {RewindError} why the turn gets none; `NO_SHRINK` where no summary could be small enough.
   */
  constructor(meter, session, turn, config) {
    const events = harness.events(session);
    this.meter = meter;
    this.session = session;
    this.turn = turn;
    this.config = config;
    this.id = randomUUID();
    this.seqs = classified(() => spanOf(session, turn, events));
    const script = scriptOf(this.seqs.map((seq) => events[seq]), turn);
    const { toolResultCapChars, maxWorkingChars } = config;
    this.draft = classified(() => native.draftTurn(script, toolResultCapChars, maxWorkingChars));
    this.opening = openingText(events[turnsOf(session, events).turn(turn).opening]);
    this.tokens = priceOf(meter, session, this.seqs, events);
    const least = this.weigh(this.draft.floor(turn));
    if (least > this.allowed) {
      this.close();
      throw refusal('NO_SHRINK', `turn ${turn} would not get small enough: it has about ${this.tokens} tokens, `
        + `and even the shortest checkpoint needs ${least}. It stays as it is.`);
    }
  }

  /** The most tokens a checkpoint of this turn may have. */
  get allowed() {
    return this.tokens * this.config.minShrinkRatio;
  }

  /** What lands, with the given surface text. */
  message(text) {
    const { turn, id } = this;
    return {
      content: [{ type: 'text', text }],
      source: { kind: 'plugin', plugin: PLUGIN, turn, turnSummaryId: id, version: FORMAT, scope: WHOLE_TURN },
    };
  }

  weigh(text) {
    return this.meter.estimateMessage(createUserMessage(this.message(text)));
  }

  /** Checks the finished draft and fixes the text that lands; the draft is not needed any more. */
  finish() {
    classified(() => this.draft.check());
    this.text = this.draft.checkpoint(this.turn);
    this.close();
  }

  /** Lets go of the turn's text. */
  close() {
    this.draft.close();
  }

  /**
   * Lands the checkpoint. Synchronous: nothing can come between the checks and the append.
   *
   * @returns the landed event.
   * @throws {RewindError} `CHANGED` when the turn is not what it was when it was drafted, `NO_SHRINK` when the
   *   checkpoint is not small enough; nothing was written then.
   */
  land() {
    const { session, turn, seqs } = this;
    const now = classified(() => spanOf(session, turn, harness.events(session)));
    if (now.length !== seqs.length || now.some((seq, at) => seq !== seqs[at])) {
      throw refusal('CHANGED', `turn ${turn} changed on the surface while it was being summarized; it stays raw.`);
    }
    const price = this.weigh(this.text);
    if (price > this.allowed) {
      throw refusal('NO_SHRINK', `the checkpoint of turn ${turn} has about ${price} tokens where the turn itself `
        + `has ${this.tokens}; the turn stays raw.`);
    }
    return landMessage(session, { seqs, message: this.message(this.text), tokens: this.tokens });
  }
}

/**
 * @param event - the message that started a turn, where there is one.
 * @returns its first words, by which a model recognises the turn.
 */
export function openingText(event) {
  const blocks = event?.data.content ?? [];
  const text = blocks.filter(({ type }) => type === 'text').map((block) => block.text).join(' ').trim();
  const points = Array.from(text.toWellFormed().slice(0, 400));
  return points.length > 160 ? `${points.slice(0, 160).join('')} ...` : points.join('');
}
