/**
 * Tool pairing around one replacement, judged on the few nodes that it can touch. Written apart from the
 * native core on purpose: a companion that shared the core's code would share its mistakes.
 */
import { resultOf } from '../host/events.js';

/**
 * @param {object} event - a surface event.
 * @returns {boolean} whether it is a message of the model; one without content derives to no message at all.
 */
function speaks(event) {
  return event.type === 'assistant/message' && event.data.message.content.length > 0;
}

function isBlank(event) {
  const { content } = event.type === 'user/message' ? event.data : event.data.message;
  return content.every((block) => block.type === 'reasoning' || (block.type === 'text' && block.text === ''));
}

/** The calls of a model message as `{ id, name, interrupted }`, in model order. */
function callsOf(event, node) {
  return event.data.message.content
    .filter(({ type }) => type === 'tool-call')
    .map(({ id }, index) => ({
      id,
      name: `call "${id}" (${index + 1}) of node ${node}`,
      interrupted: false,
    }));
}

/**
 * Reads a stretch of surface nodes: which calls stand in it, which of them are answered, what is wrong. A
 * call that still waits at the end is no fault, it may be running.
 *
 * @param {readonly object[]} events - the events of the stretch, in surface order; it begins with the model
 * message that rules it.
 * @param {(event: object) => number} nodeOf - the seq under which an event first came: a rewritten result is
 * still the same answer.
 * @returns {{ calls: Set<string>, answered: Set<string>, faults: Set<string> }} sentences, equal for equal
 * facts.
 */
function readStretch(events, nodeOf) {
  const read = { calls: new Set(), answered: new Set(), faults: new Set() };
  let waiting = [];
  for (const event of events) {
    const node = nodeOf(event);
    if (event.type === 'tool/result') {
      const at = waiting.findIndex(({ id }) => id === resultOf(event).callId);
      const [call] = at < 0 ? [] : waiting.splice(at, 1);
      if (call) read.answered.add(call.name);
      else read.faults.add(`result ${node} answers no call`);
      if (call?.interrupted) read.faults.add(`${call.name} is not answered before the next message`);
      continue;
    }
    if (event.type === 'assistant/message' && !speaks(event)) continue;
    for (const call of waiting) call.interrupted = true;
    if (isBlank(event)) read.faults.add(`node ${node} has no content`);
    if (event.type !== 'assistant/message') continue;
    for (const { name } of waiting) read.faults.add(`${name} has no answer`);
    waiting = callsOf(event, node);
    for (const { name } of waiting) read.calls.add(name);
  }
  return read;
}

/**
 * The stretch of the surface that one replacement can disturb: from the model message above it to the one
 * below it. Pairs do not reach beyond.
 */
function stretchAround(events, first, last) {
  let from = first;
  while (from > 0 && (from === first || !speaks(events(from)))) from -= 1;
  let to = last + 1;
  while (events(to) !== undefined && !speaks(events(to))) to += 1;
  return { from, to: to + 1 };
}

/**
 * Judges one replacement by what it adds.
 *
 * @param {object} candidate - the replacement, not yet in the log.
 * @param {readonly number[]} nodes - the surface before it.
 * @param {{ first: number, last: number }} range - the replaced positions.
 * @param {(seq: number) => object | undefined} eventOf - reads a logged surface event.
 * @returns {string | undefined} the first fault that the surface has with the replacement and not without it.
 */
export function addedFault(candidate, nodes, { first, last }, eventOf) {
  const firstSeq = (event) =>
    event.type === 'tool/result' && event.surfaceOp !== 'append'
      ? firstSeq(eventOf(event.surfaceOp.start ?? event.surfaceOp.startSeq))
      : event.seq;
  const { from, to } = stretchAround((position) => eventOf(nodes[position]), first, last);
  const before = nodes.slice(from, to).map(eventOf);
  const now = readStretch(before, firstSeq);
  const after = readStretch(before.toSpliced(first - from, last - first + 1, candidate), firstSeq);
  const lost = [...now.answered].find((call) => after.calls.has(call) && !after.answered.has(call));
  return lost === undefined
    ? [...after.faults].find((fault) => !now.faults.has(fault))
    : `${lost} loses its answer`;
}
