/**
 * What a chat-completions endpoint accepts, judged as strictly as the strictest of them. Written against the
 * published behaviour of the APIs and sharing nothing with the package: it is the tests' second opinion.
 */

const ROLES = new Set(['system', 'user', 'assistant', 'tool']);

function isEmpty(content) {
  if (content === undefined || content === null || content === '') return true;
  if (!Array.isArray(content)) return false;
  return content.every((part) => part.type === 'text' && part.text === '');
}

function shapeFault(message, index) {
  if (!ROLES.has(message.role)) {
    return `Invalid value: '${message.role}'. `
      + "Supported values are: 'system', 'assistant', 'user', and 'tool'.";
  }
  if (message.role === 'tool' && typeof message.tool_call_id !== 'string') {
    return `Missing required parameter: 'messages[${index}].tool_call_id'.`;
  }
  if (message.role === 'assistant') {
    return isEmpty(message.content) && !message.tool_calls?.length
      ? 'Invalid assistant message: content or tool_calls must be set'
      : undefined;
  }
  return isEmpty(message.content)
    ? `Invalid 'messages[${index}].content': string too short. `
      + 'Expected a string with minimum length 1, but got an empty string instead.'
    : undefined;
}

function unanswered(open) {
  return "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    + `'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`;
}

/**
 * Judges one message sequence: every call occurrence answered by exactly one tool message before the next
 * message that is not a tool message, no tool message without its call, no message without content.
 * Occurrences count: two calls that share an id need two answers.
 *
 * @param messages - the `messages` array of a chat-completions request.
 * @returns the first fault as `{ index, message }` in the words of the API, or undefined for a valid
 * sequence.
 */
export function wireFault(messages) {
  if (!Array.isArray(messages) || messages.length === 0) {
    return { index: 0, message: "Invalid 'messages': empty array. Expected an array with minimum length 1." };
  }
  let open = [];
  let carrier = 0;
  for (const [index, message] of messages.entries()) {
    const shape = shapeFault(message, index);
    if (shape) return { index, message: shape };
    if (message.role === 'tool') {
      const at = open.indexOf(message.tool_call_id);
      if (at < 0) {
        return {
          index,
          message: "Messages with role 'tool' must be a response to a preceding message with 'tool_calls' "
            + `(messages[${index}] answers '${message.tool_call_id}')`,
        };
      }
      open.splice(at, 1);
      continue;
    }
    if (open.length > 0) return { index: carrier, message: unanswered(open) };
    if (message.role !== 'assistant') continue;
    open = (message.tool_calls ?? []).map((call) => call.id);
    carrier = index;
  }
  return open.length > 0 ? { index: carrier, message: unanswered(open) } : undefined;
}

/**
 * @param blocks - content blocks of the harness.
 * @param type - which of them, `text` or `reasoning`.
 * @returns their text, in order.
 */
export function textOf(blocks, type = 'text') {
  return blocks.filter((block) => block.type === type).map((block) => block.text).join('');
}

function partsOf(blocks) {
  const images = blocks.filter((block) => block.type === 'image');
  if (images.length === 0) return textOf(blocks);
  return [
    { type: 'text', text: textOf(blocks) },
    ...images.map(({ attachment }) => (
      { type: 'image_url', image_url: { url: `attachment:${attachment?.id ?? ''}` } }
    )),
  ];
}

/**
 * Lays a harness request out as the shipped adapter would send it, so that an in-process request can be
 * judged by the same check as one on the network.
 *
 * @param request - `{ system?, messages }` in the harness's own message vocabulary.
 * @returns the chat-completions messages.
 */
export function toWire({ system, messages }) {
  const wire = system === undefined ? [] : [{ role: 'system', content: system }];
  for (const { role, content } of messages) {
    if (role === 'assistant') {
      const calls = content.filter((block) => block.type === 'tool-call');
      const reasoning = textOf(content, 'reasoning');
      wire.push({
        role,
        content: textOf(content),
        ...(reasoning ? { reasoning_content: reasoning } : {}),
        ...(calls.length ? { tool_calls: calls.map(({ id, name, arguments: args }) => ({
          id, type: 'function', function: { name, arguments: args },
        })) } : {}),
      });
      continue;
    }
    const results = content.filter((block) => block.type === 'tool-result');
    const rest = content.filter((block) => block.type !== 'tool-result');
    if (results.length === 0 || textOf(rest) !== '') wire.push({ role, content: partsOf(rest) });
    for (const result of results) {
      wire.push({
        role: 'tool',
        tool_call_id: result.toolCallId,
        content: textOf(result.content) || '(no output)',
      });
    }
  }
  return wire;
}

/**
 * @param requests - recorded requests.
 * @returns those refused for their message sequence, as `{ request, lane, index, message }`: which request it
 * was, and which of its messages is at fault.
 */
export function rejectionsIn(requests) {
  return requests.filter(({ fault }) => fault)
    .map(({ index, lane, fault }) => ({ request: index, lane, index: fault.index, message: fault.message }));
}
