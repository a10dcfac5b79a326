/**
 * What the package's own replacements promise: a person's words are never lost under them, and the facts in
 * their source are true (docs/rewind.md 1.6 and 3.4).
 */
import { contentOf } from '../host/events.js';
import { REPORT_PLUGIN } from '../host/reports.js';

const textsOf = (event) =>
  contentOf(event)
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text);

const isWrittenByPerson = ({ type, data }) => type === 'user/message' && data.source.kind === 'user';
const isTurnCheckpoint = ({ type, data }) => type === 'user/message' && data.source.plugin === 'turn-memory';
const quotesOf = ({ data }) => (data.source?.plugin === REPORT_PLUGIN ? (data.source.quotes ?? []) : []);

/**
 * The first of `words` that does not stand in `text`, line by line; quoting may put something before each
 * line.
 */
function missing(words, text) {
  return words.find((said) => said.split('\n').some((line) => !text.includes(line)));
}

const shown = (words) => JSON.stringify(words.length > 60 ? `${words.slice(0, 60)}…` : words);

/**
 * A report: the numbers that it gives are true, and its quotes are in the source for the next fold over it.
 */
function brokenReport(source, shadowed, text) {
  const last = shadowed.at(-1).seq;
  const { markId, end = last, foldedNodes = Infinity, reportChars = Infinity, quotes = [] } = source;
  if (markId === undefined) return 'a report names no mark';
  if (end !== last) return `a report says that it ends at seq ${end}, and it ends at seq ${last}`;
  if (foldedNodes < shadowed.length)
    return `a report says ${foldedNodes} nodes and shadows ${shadowed.length}`;
  if (reportChars < text.length) return `a report says ${reportChars} characters and has ${text.length}`;
  const owed = shadowed.flatMap((event) =>
    isWrittenByPerson(event) || isTurnCheckpoint(event) ? textsOf(event) : quotesOf(event),
  );
  const dropped = missing(owed, quotes.join('\n')) ?? missing(quotes, text);
  return dropped === undefined ? undefined : `a report does not quote a person's words: ${shown(dropped)}`;
}

/**
 * A message that quotes nobody may not stand for a person's message, unless `quotes` have its words
 * elsewhere.
 */
function brokenSilence(shadowed, quotes = []) {
  const text = quotes.join('\n');
  const person = shadowed.find(
    (event) =>
      (isWrittenByPerson(event) || isTurnCheckpoint(event)) &&
      (quotes.length === 0 || missing(textsOf(event), text) !== undefined),
  );
  return person && `a person's message, seq ${person.seq}, would leave the context without being quoted`;
}

/** A pointer: it lands after the report of its mark, and that report quotes for the whole fold. */
function brokenPointer({ markId }, shadowed, _text, surface) {
  if (markId === undefined) return 'a pointer names no mark';
  const report = surface.find(
    ({ type, data }) =>
      type === 'user/message' && data.source.plugin === REPORT_PLUGIN && data.source.markId === markId,
  );
  return report === undefined
    ? `a pointer points at a report of mark ${markId}, which is not on the surface`
    : brokenSilence(shadowed, quotesOf(report));
}

/** What each kind of replacement of ours owes, by the plugin that its source names. */
const PROMISES = {
  [REPORT_PLUGIN]: brokenReport,
  'rewind-pointer': brokenPointer,
  'rewind-prune': (_source, shadowed) => brokenSilence(shadowed),
  'turn-memory': (_source, shadowed, text) => {
    const owed = shadowed.flatMap((event) => (isWrittenByPerson(event) ? textsOf(event) : quotesOf(event)));
    const dropped = missing(owed, text);
    return dropped === undefined
      ? undefined
      : `a turn's checkpoint drops a person's words: ${shown(dropped)}`;
  },
};

/**
 * @param {object} candidate - a replacement, not yet in the log.
 * @param {readonly object[]} shadowed - the events that it shadows, in surface order.
 * @param {{ find(test: (event: object) => boolean): object | undefined }} surface - the surface before it.
 * @returns {string | undefined} the first promise of ours that it breaks; undefined for anybody else's
 * message.
 */
export function brokenPromise(candidate, shadowed, surface) {
  if (candidate.type !== 'user/message') return undefined;
  const { source } = candidate.data;
  const promise = source.kind === 'plugin' ? PROMISES[source.plugin] : undefined;
  return promise?.(source, shadowed, textsOf(candidate).join('\n'), surface);
}
