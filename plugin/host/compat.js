/**
 * What differs between harness lines, found out by trying and never by version number: how an event is read
 * from a log (`events` or `eventAt`) and how a replacement names its range (`start`/`end` or
 * `startSeq`/`endSeq`). The trial runs once, at load, on detached sessions that no store knows.
 */
import { createRequire } from 'node:module';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import * as dshSession from '@deepseek-ai/dsh-session';

const require = createRequire(import.meta.url);

/** The two spellings of a replaced range, oldest first. */
const RANGE_FORMS = [
  (start, end) => ({ op: 'replace', start, end }),
  (start, end) => ({ op: 'replace', startSeq: start, endSeq: end }),
];

/** A detached session of two user messages at seqs 0 and 1. */
function sample(Session) {
  const session = Session.create('rewind-probe');
  for (const text of ['one', 'two']) session.append('user/message', note(text), { surfaceOp: 'append' });
  return session;
}

function note(text) {
  return createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } });
}

/** The result of a trial, or undefined when it throws: an absent feature often shows only by a throw. */
function attempt(trial) {
  try {
    return trial();
  } catch {
    return undefined;
  }
}

function findReader(Session) {
  const session = sample(Session);
  if (session.seq !== 2) return undefined;
  if (attempt(() => session.eventAt(1)?.seq) === 1) {
    const whole = [
      (of) => of.events,
      (of) => of.snapshotEvents(),
      (of) => Array.from({ length: of.seq }, (_, seq) => of.eventAt(seq)),
    ].find((read) => attempt(() => read(session).length === 2 && read(session)[1].seq === 1));
    return { eventAt: (of, seq) => of.eventAt(seq), events: whole };
  }
  if (attempt(() => session.events.length === 2 && session.events[1].seq === 1)) {
    return { eventAt: (of, seq) => of.events[seq], events: (of) => of.events };
  }
  return undefined;
}

function findRangeForm(Session) {
  return RANGE_FORMS.find((form) => attempt(() => {
    const session = sample(Session);
    session.append('user/message', note('both'), { surfaceOp: form(0, 1), sourceEventSeqs: [0, 1] });
    return session.surface.nodes.length === 1 && session.surface.nodes[0] === 2;
  }));
}

/**
 * Finds out which forms a harness takes. It never throws: a harness that takes none yields an object whose
 * every use throws the refusal, so that importing this module is always safe and the refusal is said where
 * a plugin starts.
 *
 * @param {{ create(id: string): object } | undefined} Session - the session class of the mounted harness.
 * @param {string} version - the harness version, for the refusal.
 * @returns {Readonly<{
 *   refusal: string | undefined,
 *   assertSupported(): void,
 *   eventAt(session: object, seq: number): object | undefined,
 *   events(session: object): readonly object[],
 *   logLength(session: object): number,
 *   seedLength(session: object): number,
 *   replaceOp(start: number, end: number): object,
 * }>} the adapter for that harness.
 */
export function probe(Session, version) {
  const reader = attempt(() => findReader(Session));
  const range = attempt(() => findRangeForm(Session));
  const missing = [
    ...(reader ? [] : ['reading events by "events" or "eventAt"']),
    ...(range ? [] : ['surface replacements by "start"/"end" or "startSeq"/"endSeq"']),
  ];
  const refusal = missing.length === 0
    ? undefined
    : `@dpskh/tool-rewind cannot work with dsh-session ${version}: it supports neither form of `
      + `${missing.join(' nor of ')}; use a harness line named in the README, or remove the plugin's rows.`;
  const refuse = () => {
    throw new Error(refusal);
  };
  return Object.freeze({
    refusal,
    assertSupported: refusal === undefined ? () => {} : refuse,
    eventAt: reader?.eventAt ?? refuse,
    events: reader?.events ?? refuse,
    logLength: reader ? (session) => session.seq : refuse,
    seedLength: (session) => session.header.seedLength ?? session.inheritedEventCount ?? 0,
    replaceOp: range ?? refuse,
  });
}

function mountedVersion() {
  return attempt(() => require('@deepseek-ai/dsh-session/package.json').version) ?? 'of unknown version';
}

/**
 * The adapter for the mounted harness. A plugin calls `harness.assertSupported()` when it is applied:
 * where the harness takes neither form, that throws one sentence that names its version. `events` answers
 * an array-like snapshot that later appends do not grow; `eventAt` may cost O(log) after an append on lines
 * without a native one, so loops take `events` once. `seedLength` is the length of the log part that a fork
 * inherited.
 */
export const harness = probe(dshSession.Session, mountedVersion());
