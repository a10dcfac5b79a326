/** How a judge fails. */
import { RewindError } from '../../host/error.js';

/** A failed request to a judge; it never reaches the agent's step. */
export class JudgeError extends RewindError {
  /**
   * @param {string} code - the stable failure class, for instance `JUDGE_FORMAT`.
   * @param {string} message - what happened, with the judge's own words.
   * @param {{ retryable?: boolean, retryAfterMs?: number, status?: number, cause?: unknown }} [facts] -
   *   whether the same request may succeed later, how long the judge asked to wait, and the HTTP status.
   */
  constructor(code, message, { retryable = false, retryAfterMs, status, cause } = {}) {
    super(code, message, { cause });
    this.name = 'JudgeError';
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
    this.status = status;
  }
}
