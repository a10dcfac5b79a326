/**
 * What the scenarios with several writers share: files worth cutting and files worth a receipt, the model's
 * moves around them, and what has to hold of a log afterwards.
 */
import assert from 'node:assert/strict';
import { act, call } from '../support/script.js';
import { textOf, toWire } from '../support/wire.js';
import { fold, look, mark } from './scenario.js';

const lines = (words, count) => Array.from({ length: count }, (_, at) => `${words}, line ${at}\n`).join('');

/** `service.log` is read twice: the first result is stale, and a word of trouble keeps its step from a receipt. */
const LOG = `${lines('the service starts', 60)}error: needle-log-4471\n${lines('the service stops', 60)}`;
/** `plain.txt` is searched twice; results of a search are never cut, so the first becomes a receipt. */
const PLAIN = `${lines('a plain finding', 120)}a plain finding, needle-plain-8830\n`;

/** The workspace. */
export const FILES = {
  'service.log': LOG, 'plain.txt': PLAIN, 'a.txt': lines('a needle-alpha-7141', 80), 'b.txt': lines('b', 200),
};

/** Settings: only what a later identical call supersedes is stale, and the newest node alone is protected. */
export const PRUNE = {
  judge: 'rules', softLimit: '1', compactSoftLimit: '1', keepMode: 'absolute', compactMode: 'absolute',
  keepThreshold: 0.1, keepFloorThreshold: 0.1, compactThreshold: 0.1, preserveRecent: 1, neverPruneTools: ['grep'],
};

/** What the model does for each word of a story; `at` keeps call ids apart. */
export const PARTS = {
  cut: (at) => [act(look(`log${at}a`, 'service.log')), act(look(`log${at}b`, 'service.log'))],
  receipt: (at) => ['a', 'b'].map((time) => (
    act(call(`plain${at}${time}`, 'grep', { pattern: 'plain', path: 'plain.txt' })))),
  mark: (at) => [act(mark(`mark${at}`))],
  look: (at) => [act(look(`look${at}a`)), act(look(`look${at}b`, 'b.txt'))],
  fold: (at) => [act(fold(`fold${at}`))],
};

const edits = ({ events }) => events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace');
/** Results that were cut, and steps that became receipts. */
export const cutsIn = (log) => edits(log).filter(({ type }) => type === 'tool/result');
export const receiptsIn = (log) => edits(log).filter(({ data }) => data.source?.plugin === 'rewind-prune');

/** What stands on the surface for the result that first held some words, whatever replaced it since. */
export function coverOf(log, words) {
  let cover = log.events.find(({ type, data }) => type === 'tool/result' && JSON.stringify(data).includes(words));
  while (!log.surface.includes(cover)) {
    const { seq } = cover;
    cover = edits(log).find((event) => event.seq > seq && event.sourceEventSeqs.includes(seq));
  }
  return cover;
}

/** A message by what a model reads of it, whichever transport laid it out. */
const seen = ({ role, content, tool_calls: calls = [], tool_call_id: id }) => [
  role, Array.isArray(content) ? textOf(content) : content ?? '', calls.map((one) => one.id), id,
];

/** The surface that a log replays to is what the model was last sent, and its answer. */
export function assertReplays(cli, log) {
  const last = cli.provider.of('main').at(-1);
  const sent = last.messages.filter(({ role }) => role !== 'system').map(seen);
  const replayed = toWire({ messages: log.session.deriveMessages() }).map(seen);
  assert.deepEqual(replayed.slice(0, -1), sent);
  assert.equal(replayed.at(-1)[0], 'assistant');
}

/** A person's words stand on the surface as they were sent, or in the quotes of a report. */
export function assertHeard({ surface }, words) {
  const own = surface.filter(({ data }) => data.source?.kind === 'user').map(({ data }) => textOf(data.content));
  const quoted = surface.flatMap(({ data }) => data.source?.quotes ?? []);
  for (const said of words) assert.ok(own.includes(said) || quoted.includes(said), `lost: ${said}`);
}
