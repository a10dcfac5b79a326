/**
 * What a provider accepts, read off docs/rewind.md 0: every tool-call occurrence is answered by exactly one
 * result before the next non-tool message, no result lacks its call, no message is empty. Slow and literal on
 * purpose; it shares nothing with the package nor with the strict provider's own judge.
 *
 * Readings taken where the sentence leaves a choice:
 * - A call without an answer at the very end of the list is *pending*, not a fault: the harness may still be
 *   running it. Callers that judge a request ask for `closed` and then it is one.
 * - An assistant event without content derives to no message at all, so it can neither be empty nor come
 *   between.
 * - Empty is a message whose blocks hold nothing: no text unit, no image, no call, no result. Reasoning alone
 *   is nothing: the adapters send it beside the content, not as content. A result may be empty inside: the
 *   adapters write it as an empty string, which every endpoint accepts.
 * - A call that was skipped over by a non-tool message is dead: its fault is the call's, and a result that
 *   comes for it later is an orphan besides.
 */

/**
 * @param message - a message of the harness.
 * @returns its tool result as `{ callId, content }`, undefined for any other message.
 */
export function resultIn(message) {
  const block = message.content.find(({ type }) => type === 'tool-result');
  if (block !== undefined) return { callId: block.toolCallId, content: block.content };
  return message.role === 'tool' ? { callId: message.source.callId, content: message.content } : undefined;
}

/**
 * @param message - a message of the harness.
 * @returns its tool-call blocks in model order.
 */
export function callsIn(message) {
  return message.role === 'assistant' ? message.content.filter(({ type }) => type === 'tool-call') : [];
}

function isEmpty(message) {
  return message.content.every(
    (block) => block.type === 'reasoning' || (block.type === 'text' && block.text === ''),
  );
}

/**
 * Lists every fault of one message list, in order.
 *
 * @param messages - derived messages, in the order in which the model sees them.
 * @param options - `closed`: also calls that are still open at the end are faults.
 * @returns `{ kind: 'unanswered' | 'orphan' | 'empty', at, call? }` entries; `at` is the index of the message
 * that carries the fault (the carrier for an unanswered call), `call` the number of the call in it.
 */
export function wireFaults(messages, { closed = false } = {}) {
  const faults = [];
  let open = [];
  for (const [at, message] of messages.entries()) {
    const result = resultIn(message);
    if (result !== undefined) {
      const answered = open.findIndex(({ id }) => id === result.callId);
      if (answered < 0) faults.push({ kind: 'orphan', at });
      else open.splice(answered, 1);
      continue;
    }
    for (const { at: carrier, call } of open) faults.push({ kind: 'unanswered', at: carrier, call });
    if (isEmpty(message)) faults.push({ kind: 'empty', at });
    open = callsIn(message).map(({ id }, call) => ({ id, at, call }));
  }
  if (closed) for (const { at, call } of open) faults.push({ kind: 'unanswered', at, call });
  return faults;
}

/**
 * @param event - a surface event.
 * @returns the message that it derives to, null for an assistant event without content.
 */
export function messageOf(event) {
  if (event.type === 'user/message') return event.data;
  const { message } = event.data;
  return event.type === 'assistant/message' && message.content.length === 0 ? null : message;
}

/**
 * @param events - the log.
 * @param nodes - surface seqs in surface order.
 * @returns the faults of that surface as strings that name seqs, so that two surfaces can be compared.
 */
export function surfaceFaults(events, nodes) {
  const standing = nodes.filter((seq) => messageOf(events[seq]) !== null);
  return wireFaults(standing.map((seq) => messageOf(events[seq]))).map(
    ({ kind, at, call }) =>
      `${kind} ${firstOf(events, standing[at])}${call === undefined ? '' : ` call ${call}`}`,
  );
}

/**
 * A rewritten result is still the same answer to the same call: it goes by the seq under which it first came.
 */
function firstOf(events, seq) {
  const { type, surfaceOp } = events[seq];
  return type === 'tool/result' && surfaceOp !== 'append' ? firstOf(events, surfaceOp.start) : seq;
}

/**
 * The law of every edit (docs/rewind.md 0), as a function of the surface before and after it: the edit adds
 * no fault and leaves none in or beside what it put there. "Beside" is read as: no new message that is not a
 * tool result stands between a call of the assistant message above it and that call's answer below it.
 *
 * @param events - the log, new events included.
 * @param before - surface seqs before the edit.
 * @param after - surface seqs after it.
 * @returns a sentence for each breach; an empty list when the law holds.
 */
export function editFaults(events, before, after) {
  const old = new Set(surfaceFaults(events, before));
  const breaches = surfaceFaults(events, after)
    .filter((fault) => !old.has(fault))
    .map((fault) => `adds: ${fault}`);
  const known = new Set(before);
  for (const [position, seq] of after.entries()) {
    if (known.has(seq) || events[seq].type === 'tool/result') continue;
    const split = callsAcross(events, after, position);
    if (split !== undefined) breaches.push(`new node ${seq} stands between call ${split} and its answer`);
  }
  return breaches;
}

/** The first call id above `position` that is answered only below it, before another assistant message. */
function callsAcross(events, nodes, position) {
  let head = position - 1;
  while (head >= 0 && events[nodes[head]].type !== 'assistant/message') head -= 1;
  if (head < 0) return undefined;
  const open = callsIn(events[nodes[head]].data.message).map(({ id }) => id);
  const answer = (seq) => {
    if (events[seq].type !== 'tool/result') return false;
    const at = open.indexOf(resultIn(events[seq].data.message).callId);
    if (at >= 0) open.splice(at, 1);
    return at >= 0;
  };
  for (const seq of nodes.slice(head + 1, position)) answer(seq);
  for (const seq of nodes.slice(position + 1)) {
    if (events[seq].type === 'assistant/message') return undefined;
    if (answer(seq)) return resultIn(events[seq].data.message).callId;
  }
  return undefined;
}
