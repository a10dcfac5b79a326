/**
 * The laws of a fold (docs/rewind.md 0 and 3), each checked against the log and the surface as they stand.
 * Every function returns sentences about breaches; an empty list means that the laws hold.
 */
import { isDeepStrictEqual } from 'node:util';
import { Session } from '@deepseek-ai/dsh-session';
import { charsOf, isPersons, replaySurface } from './oracle.js';
import { editFaults, messageOf, resultIn, wireFaults } from './wire.js';

/** @returns the log and the surface of a session at this moment. */
export function snapshot(session) {
  return { events: session.events, nodes: [...session.surface.nodes] };
}

/** A report without the white space around it, in the widest meaning of white space that anybody has. */
const bare = (text) => text.replaceAll(/^[\s\u0085]+|[\s\u0085]+$/g, '');

const textIn = (blocks) => blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
const imageLine = ({ attachment }) => `[image: ${attachment.name ?? 'unnamed'}, ${attachment.mediaType}]`;

/**
 * 1.6: whether `report` quotes `words` word for word, each line behind one prefix that is the same for all.
 *
 * @param report - the text of the report.
 * @param words - what a person wrote.
 * @returns true when the lines stand in the report in order and together.
 */
export function quotes(report, words) {
  const lines = report.split('\n');
  const wanted = words.split('\n');
  return lines.some((first, at) => {
    if (!first.endsWith(wanted[0])) return false;
    const prefix = first.slice(0, first.length - wanted[0].length);
    if (prefix === '') return false;
    return wanted.every((line, index) => {
      const found = lines[at + index];
      return found === prefix + line || (line === '' && (found === prefix.trimEnd() || found === ''));
    });
  });
}

/** What the log gained since `from`, as edits in order, each with its price event. */
function editsSince(events, from, breaches) {
  const edits = [];
  let price;
  let nodes = replaySurface(events.slice(0, from));
  for (const event of events.slice(from)) {
    if (event.type === 'compaction/prune' && price === undefined) {
      price = event;
      continue;
    }
    const op = event.surfaceOp;
    if (op === undefined || op === 'append') {
      breaches.push(`the fold appended ${event.type} at ${event.seq}, which no plan names`);
      continue;
    }
    const before = nodes;
    nodes = replaySurface(events.slice(0, event.seq + 1));
    edits.push({
      event,
      price,
      before,
      after: nodes,
      shadowed: before.slice(before.indexOf(op.start), before.indexOf(op.end) + 1),
    });
    price = undefined;
  }
  if (price !== undefined) breaches.push(`price event ${price.seq} prices nothing`);
  return edits;
}

/**
 * The edits that a plan asks for, in the only order that is left open: report, earlier segments, siblings.
 */
function expectedGroups({ segments, siblings, carrying }) {
  const one = (seq) => ({ type: 'tool/result', shadowed: [seq] });
  const message = (shadowed) => ({ type: 'user/message', shadowed });
  if (carrying !== undefined) return [[one(carrying)], [], siblings.slice(0, -1).map(one)];
  return [[message(segments.at(-1))], segments.slice(0, -1).map(message), siblings.map(one)];
}

const keyOf = ({ type, shadowed }) => `${type} over ${shadowed.join(',')}`;

function orderBreaches(edits, plan) {
  const left = edits.map(({ event: { type }, shadowed }) => keyOf({ type, shadowed }));
  const breaches = [];
  for (const group of expectedGroups(plan)) {
    const wanted = group.map(keyOf).toSorted();
    const found = left.splice(0, wanted.length).toSorted();
    if (!isDeepStrictEqual(wanted, found))
      breaches.push(`planned [${wanted.join(' | ')}], landed [${found.join(' | ')}]`);
  }
  if (left.length > 0) breaches.push(`landed besides the plan: ${left.join(' | ')}`);
  return breaches;
}

function priceBreaches({ event, price, shadowed }, meter, events) {
  if (meter === undefined) return price === undefined ? [] : [`price event ${price.seq} without a meter`];
  if (price === undefined) return [`replacement ${event.seq} has no price event before it`];
  const { shadowedRange, shadowedSeqs, shadowedTokenCount } = price.data;
  const tokens = tokensOf(events, shadowed, meter);
  return [
    ...(price.seq === event.seq - 1
      ? []
      : [`price event ${price.seq} is not beside replacement ${event.seq}`]),
    ...(isDeepStrictEqual(shadowedRange, { start: shadowed[0], end: shadowed.at(-1) })
      ? []
      : [`price ${price.seq}: range`]),
    ...(isDeepStrictEqual([...shadowedSeqs], shadowed) ? [] : [`price ${price.seq}: seqs`]),
    ...(shadowedTokenCount === tokens
      ? []
      : [`price ${price.seq}: ${shadowedTokenCount} tokens, recount ${tokens}`]),
  ];
}

function tokensOf(events, seqs, meter) {
  return seqs.reduce((sum, seq) => {
    const message = messageOf(events[seq]);
    return sum + (message === null ? 0 : meter.estimateMessage(message));
  }, 0);
}

function citeBreaches({ event, shadowed }, plan) {
  const cited = event.sourceEventSeqs ?? [];
  const may = new Set(plan.folded);
  const missing = shadowed.filter((seq) => !cited.includes(seq));
  const foreign = cited.filter((seq) => !may.has(seq));
  return [
    ...(missing.length ? [`replacement ${event.seq} does not cite ${missing}`] : []),
    ...(foreign.length ? [`replacement ${event.seq} cites ${foreign}, which it did not fold`] : []),
  ];
}

const landedBlocks = (event) =>
  event.type === 'tool/result' ? resultIn(event.data.message).content : event.data.content;

/** The text of each landed node: what it must say, and who signs it. */
function textBreaches(edits, plan, mark) {
  const breaches = [];
  for (const [index, { event, shadowed }] of edits.entries()) {
    const blocks = landedBlocks(event);
    const words = textIn(blocks);
    if (blocks.some(({ type }) => type !== 'text'))
      breaches.push(`${event.seq} holds a block that is not text`);
    if (words.trim() === '') breaches.push(`${event.seq} is empty`);
    const carried = `[rewind report of mark ${mark.id}]`;
    if (event.type === 'tool/result') {
      const reports = shadowed[0] === plan.carrying;
      if (words.startsWith(carried) !== reports)
        breaches.push(`sibling ${event.seq} ${reports ? 'lacks' : 'has'} the report's head`);
      if (!reports && words.includes('\n')) breaches.push(`sibling ${event.seq} is more than one line`);
      continue;
    }
    const { source } = event.data;
    const wanted = index === 0 ? 'rewind' : 'rewind-pointer';
    if (source.kind !== 'plugin' || source.plugin !== wanted)
      breaches.push(`${event.seq} is signed ${source.plugin}, not ${wanted}`);
    if (source.markId !== mark.id) breaches.push(`${event.seq} names mark ${source.markId}`);
    if (index > 0 && words.includes('\n')) breaches.push(`pointer ${event.seq} is more than one line`);
  }
  return breaches;
}

/** 3.2 and 1.9: the numbers of the result against a recount. */
function numberBreaches(edits, plan, mark, result, meter, events) {
  const landed = edits.map(({ event }) => event);
  const reportChars = landed.reduce((sum, event) => sum + charsOf(landedBlocks(event)), 0);
  const recount = {
    markId: mark.id,
    foldedNodes: plan.foldedNodes,
    start: plan.start,
    end: plan.end,
    foldedChars: plan.foldedChars,
    reportChars,
    ...(meter === undefined
      ? {}
      : {
          foldedTokens: tokensOf(events, plan.folded, meter),
          reportTokens: tokensOf(
            events,
            landed.map(({ seq }) => seq),
            meter,
          ),
        }),
  };
  const breaches = Object.entries(recount)
    .filter(([key, value]) => result[key] !== value)
    .map(([key, value]) => `result.${key} is ${result[key]}, recount ${value}`);
  if (plan.foldedChars > 0 && reportChars >= plan.foldedChars)
    breaches.push(`grew: ${plan.foldedChars} to ${reportChars}`);
  if (meter !== undefined && recount.reportTokens >= recount.foldedTokens) {
    breaches.push(`grew in tokens: ${recount.foldedTokens} to ${recount.reportTokens}`);
  }
  return breaches;
}

/**
 * 1.6: every person's node stands, or is quoted in the report together with what an earlier report quoted.
 */
function personBreaches(atCommit, after, plan, report, carried) {
  const { events } = after;
  const standing = new Set(after.nodes);
  const quoted = new Set(plan.quoted);
  const breaches = atCommit.nodes
    .filter((seq) => isPersons(events[seq]) && !standing.has(seq) && !quoted.has(seq))
    .map((seq) => `the person's message ${seq} is gone`);
  const words = textIn(landedBlocks(report));
  for (const { text, images } of carried) {
    if (text !== '' && !quotes(words, text))
      breaches.push(`the report does not quote ${JSON.stringify(text)}`);
    for (const line of images) if (!words.includes(line)) breaches.push(`the report does not name ${line}`);
  }
  return breaches;
}

/**
 * What the report has to quote: the persons' nodes that are folded with a pair, and the quotes of every
 * earlier report among the folded nodes, in surface order.
 *
 * @param events - the log.
 * @param plan - the plan of the fold.
 * @param known - quotes by the seq of the report that carries them.
 * @returns a list of `{ text, images }`.
 */
export function owedQuotes(events, plan, known) {
  const quoted = new Set(plan.quoted);
  return plan.folded.flatMap((seq) => {
    if (!quoted.has(seq)) return known.get(seq) ?? [];
    const { content } = events[seq].data;
    return [{ text: textIn(content), images: content.filter(({ type }) => type === 'image').map(imageLine) }];
  });
}

/**
 * Everything that must hold after a fold that succeeded.
 *
 * @param facts - `atCommit` and `after`: snapshots just before the commit and after the fold; `plan`: the
 * oracle's; `mark`; `result`; `meter`: the token meter where one is mounted; `carried`: {@link owedQuotes};
 * `reply`: the words of the model, when they are known.
 * @returns the breaches.
 */
export function foldBreaches({ atCommit, after, plan, mark, result, meter, carried, reply }) {
  const { events } = after;
  const breaches = unchangedBreaches(atCommit, after);
  const edits = editsSince(events, atCommit.events.length, breaches);
  breaches.push(...orderBreaches(edits, plan));
  if (edits.length === 0) return breaches;
  for (const edit of edits) {
    breaches.push(
      ...editFaults(events, edit.before, edit.after),
      ...priceBreaches(edit, meter, events),
      ...citeBreaches(edit, plan),
    );
  }
  breaches.push(...editFaults(events, atCommit.nodes, after.nodes));
  breaches.push(
    ...textBreaches(edits, plan, mark),
    ...numberBreaches(edits, plan, mark, result, meter, events),
  );
  breaches.push(...personBreaches(atCommit, after, plan, edits[0].event, carried));
  if (reply !== undefined && !textIn(landedBlocks(edits[0].event)).includes(bare(reply)))
    breaches.push('the report is not what the model wrote');
  return breaches;
}

/** The log only grew: every earlier event is the very same frozen object. */
function unchangedBreaches(before, after) {
  return before.events.every((event, seq) => after.events[seq] === event) ? [] : ['an earlier event changed'];
}

/** A message as a model without image input gets it, as far as it can be told from outside. */
const imageless = ({ content, ...rest }) => ({ ...rest, content: withoutImages(content) });
const withoutImages = (content) =>
  content.map((block) => {
    if (block.type === 'image') return { type: 'text', text: imageLine(block) };
    return block.type === 'tool-result' ? { ...block, content: withoutImages(block.content) } : block;
  });

/**
 * 2.2: every request is wire-valid; on the session's own route it is the last routed request up to somewhere
 * behind the region, the same system, tools and messages, plus one instruction. Where that prefix itself has
 * a fault, or the route is another, only validity is asked for.
 *
 * @param options - the request as the adapter got it.
 * @param facts - `before`: the snapshot when the fold was asked for; `plan`; `header` of the session;
 * `overridden`, `images`: of the composition.
 * @returns the breaches.
 */
export function requestBreaches(options, { before, plan, header, overridden, images }) {
  const { events, nodes } = before;
  const faults = wireFaults(options.messages, { closed: true });
  const breaches = faults.map((fault) => `the request is not wire-valid: ${JSON.stringify(fault)}`);
  const instruction = options.messages.at(-1);
  if (instruction.role !== 'user' || textIn(instruction.content).trim() === '')
    breaches.push('no instruction at the end');
  if (header === undefined) return breaches;
  if (options.system !== header.system) breaches.push('the request has another system prompt');
  if (!isDeepStrictEqual(options.tools, header.tools)) breaches.push('the request has other tools');
  if (overridden) return breaches;
  const standing = nodes.filter((seq) => messageOf(events[seq]) !== null);
  const reach = standing.findLastIndex((seq) => plan.folded.includes(seq)) + 1;
  const prefix = standing.map((seq) => messageOf(events[seq]));
  if (wireFaults(prefix.slice(0, reach), { closed: true }).length > 0) return breaches;
  const sent = options.messages.slice(0, -1);
  if (sent.length < reach)
    breaches.push(`the request stops before the region ends: ${sent.length} of ${reach} messages`);
  const shown = images ? (message) => message : imageless;
  const other = sent.findIndex(
    (message, index) => prefix[index] === undefined || !isDeepStrictEqual(message, shown(prefix[index])),
  );
  if (other >= 0)
    breaches.push(`the request leaves the session's own messages at ${other} of ${sent.length}`);
  return breaches;
}

/** Every refusal leaves log and surface as they were. */
export function refusalBreaches(before, after) {
  return [
    ...unchangedBreaches(before, after),
    ...(after.events.length === before.events.length
      ? []
      : [`a refusal wrote ${after.events.length - before.events.length} events`]),
    ...(isDeepStrictEqual(before.nodes, after.nodes) ? [] : ['a refusal changed the surface']),
  ];
}

/** The surface is the replay of the log, by hand; cheap enough for after every fold. */
export function surfaceBreaches({ events, nodes }) {
  return isDeepStrictEqual(replaySurface(events), nodes) ? [] : ['the surface is not the replay of the log'];
}

/** `replay(log)` gives the same surface and the same messages, through the real `Session`. */
export function replayBreaches(session) {
  const again = Session.create('replayed', JSON.parse(JSON.stringify(session.events)));
  return [
    ...(isDeepStrictEqual([...again.surface.nodes], [...session.surface.nodes])
      ? []
      : ['the replayed surface differs']),
    ...(isDeepStrictEqual(again.deriveMessages(), session.deriveMessages())
      ? []
      : ['the replayed messages differ']),
  ];
}
