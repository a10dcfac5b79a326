/**
 * How a landed report is known in a log (spec/rewind.md 1.3 and 3.4). The log is the truth about what is
 * folded, so whoever asks whether a mark is folded asks these functions.
 */

/** The `plugin` field of a report's message source; nothing but reports carries it. */
export const REPORT_PLUGIN = 'rewind';

const HEAD = /^\[rewind report of mark (\d+)\]/;

/**
 * The fixed text with which a report begins when it stands in a tool result: a fold that finds nothing but
 * parallel siblings puts its report into the last of them.
 *
 * @param {number} markId - the folded mark.
 * @returns {string} the first words of such a result.
 */
export function reportHead(markId) {
  return `[rewind report of mark ${markId}]`;
}

/**
 * Tells whether an event carries a report, and of which mark. A report in a tool result is one only for a
 * call that stands in its mark's carrier; the caller, who knows the carrier, compares `callId`. Text that
 * merely reads like a report, in an appended result, is none.
 *
 * @param {object} event - a session event.
 * @returns {{ markId: number, callId?: string } | undefined} the mark, and the call for a report in a result.
 */
export function reportOf(event) {
  if (event.type === 'user/message') {
    const { kind, plugin, markId } = event.data.source;
    if (kind !== 'plugin' || plugin !== REPORT_PLUGIN || !Number.isSafeInteger(markId)) return undefined;
    return { markId };
  }
  if (event.type !== 'tool/result' || event.surfaceOp?.op !== 'replace') return undefined;
  const { callId, blocks } = resultOf(event);
  const found = HEAD.exec(blocks[0]?.type === 'text' ? blocks[0].text : '');
  return found === null ? undefined : { markId: Number(found[1]), callId };
}

/**
 * Reads a `tool/result` event in either shape: harness lines up to 0.1.1 wrap the content in one
 * `tool-result` block, later ones carry it directly.
 *
 * @param {object} event - a `tool/result` event.
 * @returns {{ callId: string, blocks: readonly object[], isError: boolean }} its call, content and outcome.
 */
export function resultOf(event) {
  const { message } = event.data;
  const wrapped = message.content[0]?.type === 'tool-result' ? message.content[0] : undefined;
  return {
    callId: message.source.callId,
    blocks: wrapped?.content ?? message.content,
    isError: (wrapped ?? message).isError === true,
  };
}
