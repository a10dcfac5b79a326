/** `/rewind list` and `/rewind show`: the folds that a session's log holds. */
import { harness } from '../host/compat.js';
import { RewindError } from '../host/error.js';
import { contentOf, isReplacement, resultOf } from '../host/events.js';
import { recallText, replacementsOf } from '../host/replaced.js';
import { carrierOf, isReportSource, reportOf } from '../host/reports.js';
import { count, plural, range } from '../host/words.js';
import { POINTER_PLUGIN } from './landing.js';

/** Originals shown at once, in UTF-16 code units. */
const PAGE = 20_000;

/** The folds of a session, oldest first: the report, and everything that landed with it. */
function foldsOf(session, checkpointToolName) {
  const events = harness.events(session);
  const folds = [];
  for (const event of events) {
    const report = reportOf(event);
    if (report === undefined) continue;
    const place = report.callId === undefined ? undefined : carrierOf(events, event, report.callId);
    if (place) {
      // A result that merely quotes a report's first line answers no call beside a mark's.
      const calls = place.carrier?.data.message.content.filter(({ type }) => type === 'tool-call') ?? [];
      if (!calls.some(({ name }) => name === checkpointToolName)) continue;
      // A report that a pruner shortened since is the same fold.
      if (folds.some(({ result }) => result === place.result)) continue;
    }
    folds.push({ ...report, result: place?.result, event, ...landedWith(events, event, report.markId) });
  }
  for (const fold of folds) fold.facts = factsOf(events, fold);
  return folds;
}

/** A fold lands in one block: its report, then pointers and rewritten results, each behind its price. */
function landedWith(events, report, markId) {
  const pointers = [];
  const siblings = [];
  for (let seq = report.seq + 1; seq < events.length; seq += 1) {
    const event = events[seq];
    if (event.type === 'compaction/prune') continue;
    if (!isReplacement(event)) break;
    const { source } = event.data;
    if (event.type === 'tool/result') siblings.push(seq);
    else if (source?.plugin === POINTER_PLUGIN && source.markId === markId) pointers.push(seq);
    else break;
  }
  return { pointers, siblings };
}

/** The numbers of a fold: from the report's source; for a report in a result, from the result of `rewind`. */
function factsOf(events, { event, markId }) {
  if (isReportSource(event.data.source)) return event.data.source;
  const told = events.slice(event.seq).find(({ type, data }) =>
    type === 'tool/result' && data.meta?.markId === markId && data.meta?.foldedNodes !== undefined);
  return told?.data.meta ?? {};
}

/** How often something that each replacement took away was read again, by the replacement's seq. */
function regretIn(session) {
  const spoken = [];
  const recalls = [];
  let recallIds = new Set();
  for (const event of harness.events(session)) {
    if (isReplacement(event)) continue;
    if (event.type === 'assistant/message') {
      const calls = event.data.message.content.filter(({ type }) => type === 'tool-call');
      spoken.push({ seq: event.seq, calls: calls.map(({ name, arguments: args }) => [name, args ?? '']) });
      recallIds = new Set(calls.filter(({ name }) => name === 'recall').map(({ id }) => id));
    } else if (event.type === 'tool/result' && recallIds.has(resultOf(event).callId)) {
      recalls.push({ seq: event.seq, text: textOf(event) });
    }
  }
  const pairs = replacementsOf(session).regret(JSON.stringify({ spoken, recalls }));
  const regret = new Map();
  for (let at = 0; at < pairs.length; at += 2) regret.set(pairs[at], pairs[at + 1]);
  return regret;
}

function textOf(event) {
  return contentOf(event).filter(({ type }) => type === 'text').map(({ text }) => text).join('\n');
}

/** The harness counts cached input apart from the rest. */
function usageOf({ inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }) {
  const cached = cacheReadTokens ? `, ${count(cacheReadTokens)} of them cached` : '';
  return `asked with ${plural(inputTokens + cacheReadTokens + cacheWriteTokens, 'token')}${cached}, answered with ${count(outputTokens)}`;
}

/**
 * @param host - `{ config }` of the entry plugin.
 * @param agent - the agent whose session is looked at.
 * @returns the text of `/rewind list`.
 */
export function listFolds({ config }, { session }) {
  const folds = foldsOf(session, config.checkpointToolName);
  if (folds.length === 0) return 'No fold in this session yet.';
  const regret = regretIn(session);
  const reader = replacementsOf(session);
  const lines = folds.flatMap(({ markId, event, pointers, siblings, facts }) => {
    const landed = [event.seq, ...pointers, ...siblings];
    const nodes = facts.foldedNodes ?? landed.reduce((sum, seq) => sum + reader.takenBy(seq).length, 0);
    const seqs = facts.start === undefined ? reader.takenBy(event.seq) : [facts.start, facts.end];
    const { foldedTokens, reportTokens, foldedChars, reportChars, usage } = facts;
    const shrunk = [
      foldedTokens !== undefined && reportTokens !== undefined
        ? `${count(foldedTokens)} to ${plural(reportTokens, 'token')}` : undefined,
      foldedChars !== undefined && reportChars !== undefined
        ? `${count(foldedChars)} to ${plural(reportChars, 'character')}` : undefined,
    ].find((text) => text !== undefined);
    const again = plural(landed.reduce((sum, seq) => sum + (regret.get(seq) ?? 0), 0), 'time');
    const told = [shrunk, usage && usageOf(usage), `read again since: ${again}`];
    return [
      `Mark ${markId}: ${plural(nodes, 'node')}, ${range(seqs[0], seqs.at(-1))}, report at s${event.seq}`,
      `  ${told.filter(Boolean).join('; ')}`,
    ];
  });
  return [`${plural(folds.length, 'fold')} in this session:`, ...lines].join('\n');
}

/**
 * @param host - `{ config }` of the entry plugin.
 * @param agent - the agent whose session is looked at.
 * @param args - the mark, and where to go on in the originals.
 * @param signal - cancels the reading.
 * @returns a promise of the text of `/rewind show`.
 * @throws {RewindError} `NO_SUCH_FOLD` or `BAD_QUERY`, naming the folds there are.
 */
export async function showFold({ config }, { session }, [wanted, offset = '0'], signal) {
  const folds = foldsOf(session, config.checkpointToolName);
  const known = folds.length === 0
    ? 'No fold in this session yet.'
    : `Folds: ${folds.map(({ markId }) => `mark ${markId}`).join(', ')}.`;
  if (wanted === undefined) throw new RewindError('BAD_QUERY', `Say which, as in /rewind show 1. ${known}`);
  const fold = folds.findLast(({ markId }) => String(markId) === wanted);
  if (!fold) throw new RewindError('NO_SUCH_FOLD', `No fold of mark ${wanted}. ${known}`);
  if (!/^\d{1,9}$/.test(offset)) throw new RewindError('BAD_QUERY', `The offset ${offset} is not a number.`);
  const { event, pointers, siblings, markId } = fold;
  const ask = { seq: event.seq, before: [...siblings, ...pointers], offset: Number(offset) };
  const originals = await recallText(session, ask, PAGE, signal);
  const shown = originals.replace(/\n\[more: offset (\d+)\]$/, `\n[more: /rewind show ${markId} $1]`);
  if (Number(offset) > 0) return shown;
  return [`Report of mark ${markId}, s${event.seq}:`, textOf(event), '', 'Originals:', shown].join('\n');
}
