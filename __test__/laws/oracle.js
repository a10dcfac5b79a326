/**
 * The reference: which nodes a fold takes, written from docs/rewind.md 0, 1 and 3 alone, slow and obvious,
 * sharing no code with the package. Where a sentence leaves a choice, the reading is marked CHOICE.
 */
import { callsIn, messageOf, resultIn } from './wire.js';

/** @returns the surface that `events` alone give, replayed one by one. */
export function replaySurface(events) {
  const nodes = [];
  for (const { seq, surfaceOp } of events) {
    if (surfaceOp === undefined) continue;
    if (surfaceOp === 'append') nodes.push(seq);
    else
      nodes.splice(
        nodes.indexOf(surfaceOp.start),
        nodes.indexOf(surfaceOp.end) - nodes.indexOf(surfaceOp.start) + 1,
        seq,
      );
  }
  return nodes;
}

const isReplacement = ({ surfaceOp }) => surfaceOp !== undefined && surfaceOp !== 'append';

/**
 * 1.1: a node's origin is its own seq if it was appended; a replacement's origins are those of the surface
 * events that it cites, followed down.
 *
 * @returns the set of origin seqs.
 */
export function originsOf(events, seq) {
  const event = events[seq];
  if (!isReplacement(event)) return new Set([seq]);
  const cited = (event.sourceEventSeqs ?? []).filter((source) => events[source].surfaceOp !== undefined);
  return new Set(cited.flatMap((source) => [...originsOf(events, source)]));
}

/** 1.9: text, reasoning, tool-call arguments, tool output, recursively; everything else counts 0. */
export function charsOf(blocks) {
  let chars = 0;
  for (const block of blocks) {
    if (block.type === 'text' || block.type === 'reasoning') chars += block.text.length;
    else if (block.type === 'tool-call')
      chars += typeof block.arguments === 'string' ? block.arguments.length : 0;
    else if (block.type === 'tool-result') chars += charsOf(block.content);
  }
  return chars;
}

/** @returns the model-visible length of one surface event. */
export function nodeChars(event) {
  const message = messageOf(event);
  return message === null ? 0 : charsOf(message.content);
}

/**
 * 1.3, 1.8 and 3.4: whether an event is the report of a mark: a report message, or a report in a sibling.
 * CHOICE: a report that came before its mark is not of that mark. A fork's provider may count its marks anew.
 * CHOICE: of a report in a sibling, the answer itself must be newer than the mark, and no later assistant
 * message may have called under the same id before that answer came.
 *
 * @returns true when the mark counts as folded by this event.
 */
export function isReportOf(events, event, mark) {
  if (!isReplacement(event) || event.seq < mark.logLength) return false;
  if (event.type === 'user/message') {
    const { source } = event.data;
    return source.kind === 'plugin' && source.plugin === 'rewind' && source.markId === mark.id;
  }
  if (event.type !== 'tool/result') return false;
  const { callId, content } = resultIn(event.data.message);
  const text = content[0]?.type === 'text' ? content[0].text : '';
  if (!text.startsWith(`[rewind report of mark ${mark.id}]`)) return false;
  const [answer] = originsOf(events, event.seq);
  const caller = events
    .slice(0, answer)
    .findLast(
      ({ type, data }) =>
        type === 'assistant/message' && callsIn(data.message).some(({ id }) => id === callId),
    );
  const carrier = carrierAt(events, mark.logLength);
  return answer >= mark.logLength && carrier !== undefined && caller?.seq === carrier;
}

/**
 * 1.2: the assistant message that was appended last before the mark was taken, if it stood on the surface with
 * a call open then.
 * CHOICE: an older assistant message with a call that never got its answer is not a carrier; nothing can be
 * running in it any more, since the model has spoken again, also where what it said has left the surface.
 */
function carrierAt(events, logLength) {
  const before = events.slice(0, logLength);
  const carrier = before.findLast(
    (event) => event.type === 'assistant/message' && event.surfaceOp === 'append',
  )?.seq;
  const nodes = replaySurface(before);
  if (!nodes.includes(carrier)) return undefined;
  const later = nodes.slice(nodes.indexOf(carrier) + 1);
  return openCalls(events, carrier, later).length > 0 ? carrier : undefined;
}

/** The calls of `carrier` that the results among `later` leave open: by id, first open occurrence first. */
function openCalls(events, carrier, later) {
  const open = callsIn(events[carrier].data.message).map(({ id, name }, index) => ({ id, name, index }));
  for (const seq of later) {
    if (events[seq].type !== 'tool/result') continue;
    const at = open.findIndex(({ id }) => id === resultIn(events[seq].data.message).callId);
    if (at >= 0) open.splice(at, 1);
  }
  return open;
}

/**
 * 1.2: which of the carrier's calls took the mark.
 * CHOICE: a `callId` that names no open call of the carrier is treated as absent. Of several, the first in
 * model order.
 */
function markCall(open, mark, toolName) {
  return open.find(({ id }) => id === mark.callId) ?? open.find(({ name }) => name === toolName) ?? open[0];
}

/** 1.6: what is never folded by itself. CHOICE: any message of `turn-memory` counts, whatever its scope. */
export function isPersons(event) {
  if (event.type !== 'user/message') return false;
  const { source } = event.data;
  return source.kind === 'user' || (source.kind === 'plugin' && source.plugin === 'turn-memory');
}

const refusal = (code, seq) => (seq === undefined ? { code } : { code, seq });

/** @returns whether a turn is open at the end of the log. */
export function turnIsOpen(events) {
  return events.findLast(({ type }) => type === 'turn/start' || type === 'turn/end')?.type === 'turn/start';
}

/**
 * Decides what one fold does.
 *
 * @param events - the log.
 * @param nodes - the surface, in surface order.
 * @param mark - `{ id, logLength, callId?, folded? }`; `folded` is what the checkpoint service says.
 * @param options - `toolName` of the checkpoint tool; `openTurn`, default read from the log.
 * @returns `{ code, seq? }` for a refusal, else `{ segments, siblings, carrying, quoted, start, end, folded,
 * foldedNodes, foldedChars }`: `segments` are runs of seqs in surface order (the last holds the report unless
 * `carrying` names the sibling that does), `siblings` the results that are rewritten in place, `quoted` the
 * persons' nodes that are folded with the pair around them.
 */
export function oracle(events, nodes, mark, { toolName = 'checkpoint', openTurn = turnIsOpen(events) } = {}) {
  const L = mark.logLength;
  if (!Number.isInteger(L) || L < 0 || L > events.length) return refusal('EMPTY_REGION');
  if (mark.folded || events.some((event) => isReportOf(events, event, mark))) return refusal('EMPTY_REGION');

  const isOld = (seq) => [...originsOf(events, seq)].some((origin) => origin < L);
  const after = nodes.slice(nodes.findLastIndex(isOld) + 1);

  const head = readHead(events, nodes, after, mark, toolName);
  const siblings = openTurn ? head.siblings : [];
  const region = readRegion(events, after.slice(head.length));
  if (region.orphan !== undefined) return refusal('UNBALANCED', region.orphan);

  const { segments, quoted } = split(
    events,
    after.slice(head.length, head.length + region.end),
    region.marks,
  );
  if (segments.length === 0 && siblings.length === 0) {
    return region.dead === undefined ? refusal('EMPTY_REGION') : refusal('UNBALANCED', region.dead);
  }
  const all = new Set([...siblings, ...segments.flat()]);
  const folded = after.filter((seq) => all.has(seq));
  return {
    segments,
    siblings,
    carrying: segments.length === 0 ? siblings.at(-1) : undefined,
    quoted,
    folded,
    start: folded[0],
    end: folded.at(-1),
    foldedNodes: folded.length,
    foldedChars: folded.reduce((sum, seq) => sum + nodeChars(events[seq]), 0),
  };
}

/**
 * The head: what follows the mark up to the last result of the mark's own carrier. The region starts after
 * it.
 * CHOICE: other nodes in the head (a plugin's message between two of these results) stay: no cut beside them
 * is balanced, and the pair around them must stay visible. A late result of an older call among them is not
 * inside the region, so it is no reason to refuse.
 */
function readHead(events, nodes, after, mark, toolName) {
  const carrier = carrierAt(events, mark.logLength);
  const none = { length: 0, siblings: [] };
  if (carrier === undefined || !nodes.includes(carrier)) return none;
  const early = nodes.slice(nodes.indexOf(carrier) + 1, nodes.length - after.length);
  const open = openCalls(events, carrier, early);
  const own = markCall(open, mark, toolName);
  const next = after.findIndex((seq) => events[seq].type === 'assistant/message');
  const siblings = [];
  let length = 0;
  for (const [index, seq] of after.slice(0, next < 0 ? after.length : next).entries()) {
    if (events[seq].type !== 'tool/result') continue;
    const at = open.findIndex(({ id }) => id === resultIn(events[seq].data.message).callId);
    if (at < 0) continue;
    const [call] = open.splice(at, 1);
    length = index + 1;
    if (call !== own) siblings.push(seq);
  }
  return { length, siblings };
}

/**
 * 1.4 and 1.5 over everything after the head: pairs by id and occurrence, first open occurrence first.
 * CHOICE: a result for a call of the carrier that comes after another assistant message answers nothing that
 * a provider would take; it is possible in imported logs only, and is an orphan like any other.
 * CHOICE: an orphan result neither opens nor closes anything, so it never ends a region by itself.
 *
 * @returns `end`, the last balanced cut; `marks`, for each node whether a pair is open across it; `orphan`,
 * the first result without its call before `end`; `dead`, the first carrier of a call that stays open
 * although the model spoke again.
 */
function readRegion(events, inside) {
  const open = [];
  const marks = [];
  const orphans = [];
  let end = 0;
  for (const [index, seq] of inside.entries()) {
    const event = events[seq];
    if (event.type === 'assistant/message') {
      for (const { id } of callsIn(event.data.message)) open.push({ id, seq });
    } else if (event.type === 'tool/result') {
      const { callId } = resultIn(event.data.message);
      const at = open.findIndex(({ id }) => id === callId);
      if (at >= 0) open.splice(at, 1);
      else orphans.push({ seq, index });
    }
    marks.push(open.length > 0);
    if (open.length === 0) end = index + 1;
  }
  const dead = firstDead(events, inside.slice(end));
  return { end, marks, dead, orphan: orphans.find(({ index }) => index < end)?.seq };
}

/**
 * 1.5: the first carrier of an open call that is followed by a later assistant message.
 * CHOICE: open is judged when that later message comes. If the id is used again afterwards, the answer to the
 * second call must not make the first one look answered.
 */
function firstDead(events, rest) {
  const spoken = rest.filter((seq) => events[seq].type === 'assistant/message');
  return spoken.slice(0, -1).find((seq, index) => {
    const later = rest.slice(rest.indexOf(seq) + 1, rest.indexOf(spoken[index + 1]));
    return openCalls(events, seq, later).length > 0;
  });
}

/**
 * 1.6: a person's node splits the region where no pair is open across it, and is folded and quoted elsewhere.
 */
function split(events, inside, marks) {
  const segments = [];
  const quoted = [];
  let run = [];
  for (const [index, seq] of inside.entries()) {
    if (isPersons(events[seq]) && !marks[index]) {
      if (run.length > 0) segments.push(run);
      run = [];
      continue;
    }
    if (isPersons(events[seq])) quoted.push(seq);
    run.push(seq);
  }
  if (run.length > 0) segments.push(run);
  return { segments, quoted };
}
