/** Session events read in every shape that a harness line gives them. */

/** @returns whether an event stands for other events on the surface. */
export function isReplacement(event) {
  return typeof event?.surfaceOp === 'object' && event.surfaceOp !== null;
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
    callId: wrapped?.toolCallId ?? message.source?.callId,
    blocks: wrapped?.content ?? message.content,
    isError: (wrapped ?? message).isError === true,
  };
}

/** @returns the content blocks of a surface event. */
export function contentOf(event) {
  if (event.type === 'user/message') return event.data.content;
  return event.type === 'tool/result' ? resultOf(event).blocks : event.data.message.content;
}
