/** The one error class of the package: a `HarnessError`, so that its code reaches the log. */
import { HarnessError } from '@deepseek-ai/dsh-llm';

/**
 * Words for what was thrown or aborted with. An abort's reason is whatever its caller gave; the harness gives a
 * plain object with a `kind`, which prints as nothing.
 *
 * @param {unknown} reason - an error, or the reason of a signal.
 * @returns {string} its message, its kind, or itself as text.
 */
export function reasonOf(reason) {
  return reason?.message ?? reason?.kind ?? String(reason);
}

/**
 * A refusal or failure of this package. The harness records name and code of a `HarnessError` in
 * `tool/result.error`, and shows the model the message alone; therefore every message says what
 * happened and what to do next.
 */
export class RewindError extends HarnessError {
  /**
   * @param {string} code - the stable failure class, for instance `EMPTY_REGION` (docs/rewind.md 4.2).
   * @param {string} message - one or two sentences for the model and for a person.
   * @param {{ cause?: unknown, [fact: string]: unknown }} [detail] - facts behind the message; `cause`
   *   is chained as the error's own cause, the rest is kept in `detail`.
   */
  constructor(code, message, detail = {}) {
    const { cause, ...facts } = detail;
    super(message, code, cause === undefined ? undefined : { cause });
    this.name = 'RewindError';
    this.detail = Object.freeze(facts);
  }
}
