/** What became of fold attempts, as far as the guard has to know (docs/rewind.md 4.3, 4.4). */
import { harness } from '../host/compat.js';
import { openTurn } from '../host/turn.js';

/** Codes of refusals that asking again in the same turn cannot change. */
const LASTING = new Set(['EMPTY_REGION', 'UNBALANCED', 'SHRINK', 'NO_ROUTE']);

/** Refused attempts by session, weakly held; a turn's attempts are dropped when it ends. */
export class Attempts {
  #failed = new WeakMap();
  #tooSmall = new WeakMap();

  /** @param ctx - the entry plugin's context. */
  constructor(ctx) {
    ctx.on('session/event', (session, { type }) => {
      if (type === 'turn/end') this.#failed.delete(session);
    });
  }

  /** Keeps what a fold that threw means for the guard; an abort's reason can be anything, null included. */
  record(session, error) {
    const { code, detail } = error ?? {};
    const markId = detail?.markId;
    if (markId === undefined) return;
    if (LASTING.has(code)) {
      this.#failed.set(session, { markId, turn: openTurn(harness.events(session)) });
    } else {
      this.#failed.delete(session);
    }
    if (code === 'SHRINK') this.#tooSmall.set(session, { markId, foldedChars: detail.foldedChars });
  }

  /** A fold succeeded: nothing is held against a mark any more. */
  forget(session) {
    this.#failed.delete(session);
    this.#tooSmall.delete(session);
  }

  /** @returns whether the mark's last attempt in this turn failed for a lasting reason. */
  failedFor(session, markId, turn) {
    const failed = this.#failed.get(session);
    return failed?.markId === markId && failed.turn === turn;
  }

  /** @returns the size at which the mark's region was refused as too small, undefined where it never was. */
  sizeRefused(session, markId) {
    const refused = this.#tooSmall.get(session);
    return refused?.markId === markId ? refused.foldedChars : undefined;
  }
}
