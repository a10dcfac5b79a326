/**
 * Region selection: this package beside the same job done with the harness's public helpers, in one process,
 * medians of interleaved runs.
 */
import { toolPairingBalancedAfter, toolPairingBalancedBefore } from '@deepseek-ai/dsh-compaction';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { observe, readWindow } from '../plugin/host/surface.js';
import { assistantBefore } from '../plugin/host/turn.js';
import { native } from '../plugin/native.js';
import { median, time } from './clock.js';
import { growSession, reopen } from './sessions.js';
import { markdown, ms, times } from './table.js';

const SIZES = [1_000, 10_000, 100_000];
const SHARES = [0.9, 0.01];

/** The job of both sides: where the region starts and ends, what it holds, how much text that is. */
function ours(session, logLength) {
  const { events } = session;
  const window = readWindow(session, logLength, events);
  const plan = native.planFold(window, {
    mark: '1',
    logLength,
    logLengthText: String(logLength),
    logSize: events.length,
    lastAssistant: assistantBefore(events, logLength)?.seq,
    openTurn: false,
    folded: false,
  }, 'en');
  return { nodes: plan.foldedNodes, chars: plan.foldedChars, start: plan.start, end: plan.end };
}

function helpers(session, logLength) {
  const { nodes } = session.surface;
  const { events } = session;
  let start = nodes.findIndex((seq) => seq >= logLength);
  while (start < nodes.length && !toolPairingBalancedBefore(session, nodes[start])) start += 1;
  let end = nodes.length - 1;
  while (end > start && !toolPairingBalancedAfter(session, nodes[end])) end -= 1;
  let chars = 0;
  for (let at = start; at <= end; at += 1) {
    const message = session.deriveEventMessage(events[nodes[at]]);
    if (message) chars += walk(message.content);
  }
  return { nodes: end - start + 1, chars, start: nodes[start], end: nodes[end] };
}

function walk(blocks) {
  let chars = 0;
  for (const block of blocks) {
    if (block.type === 'text' || block.type === 'reasoning') chars += block.text.length;
    else if (block.type === 'tool-call') chars += block.arguments.length;
    else if (block.type === 'tool-result') chars += walk(block.content);
  }
  return chars;
}

function note(session) {
  const content = [{ type: 'text', text: 'go on' }];
  session.append('user/message', createUserMessage({ content, source: { kind: 'plugin', plugin: 'bench' } }), { surfaceOp: 'append' });
}

/** What the host's event feed does while a session lives: it costs at the appends, and is measured there. */
function feed(session) {
  const { events } = session;
  return time(() => {
    for (const event of events) observe(session, event);
  }).ms / events.length;
}

/**
 * One cell of the table. Both sides work on session objects they have not seen: *resumed*, with nothing fed
 * and with cold memory; *cold*, the first fold of a session that lived in this process and so was fed event by
 * event; and after an append.
 */
function measureCell(base, share, runs) {
  const { nodes } = base.surface;
  const logLength = nodes[Math.floor(nodes.length * (1 - share))];
  const pair = () => ({ ours: [], helpers: [] });
  const samples = { resumed: pair(), cold: pair(), appended: pair(), snapshot: [], feed: [] };
  for (let run = 0; run < runs; run += 1) {
    const sides = run % 2 ? [['ours', ours], ['helpers', helpers]] : [['helpers', helpers], ['ours', ours]];
    const found = {};
    for (const [name, side] of sides) {
      const resumed = reopen(base);
      void resumed.events;
      samples.resumed[name].push(time(() => side(resumed, logLength)).ms);
      const session = reopen(base);
      const fed = feed(name === 'ours' ? session : reopen(base));
      if (name === 'ours') samples.feed.push(fed);
      const cold = time(() => side(session, logLength));
      samples.cold[name].push(cold.ms);
      for (let again = 0; again < 3; again += 1) {
        note(session);
        samples.snapshot.push(time(() => session.events).ms);
        observe(session, session.events.at(-1));
        const warm = time(() => side(session, logLength));
        samples.appended[name].push(warm.ms);
      }
      found[name] = cold.value;
    }
    if (JSON.stringify(found.ours) !== JSON.stringify(found.helpers)) {
      throw new Error(`the two sides disagree: ${JSON.stringify(found)}`);
    }
  }
  const cell = ({ ours: mine, helpers: theirs }) => ({ ours: median(mine), helpers: median(theirs), ratio: median(theirs) / median(mine) });
  return {
    events: base.seq,
    surface: nodes.length,
    share,
    resumed: cell(samples.resumed),
    cold: cell(samples.cold),
    appended: cell(samples.appended),
    snapshot: median(samples.snapshot),
    feed: median(samples.feed) * 1000,
  };
}

/** @returns one row a size and share. */
export function measure(runs = 7) {
  measureCell(growSession(1_000), 0.9, 20);
  return SIZES.flatMap((size) => {
    const base = growSession(size);
    return SHARES.map((share) => measureCell(base, share, size < 100_000 ? 3 * runs : runs));
  });
}

/** @returns the rows as a table. */
export function table(rows) {
  const pair = ({ ours: mine, helpers: theirs, ratio }) => `${ms(mine)} / ${ms(theirs)} (${times(ratio)})`;
  return [
    'Region selection, milliseconds: this package / the harness\'s helpers',
    '',
    ...markdown(
      ['events', 'region', 'cold, live session', 'after an append', 'resumed, nothing read yet', 'log snapshot', 'feed, us an event'],
      rows.map((row) => [
        row.events, `${row.share * 100}%`, pair(row.cold), pair(row.appended), pair(row.resumed), ms(row.snapshot), ms(row.feed),
      ]),
    ),
  ];
}

/** Targets hold for the log they were set on: 100,000 events. Smaller ones are shown. */
const TARGETS = { 0.9: { cold: 8, appended: 8 }, 0.01: { cold: 30, appended: 1 } };

/** @returns what was not reached. */
export function missed(rows) {
  return rows.filter(({ events }) => events >= 100_000).flatMap((row) => (
    Object.entries(TARGETS[row.share])
      .filter(([column, least]) => row[column].ratio < least)
      .map(([column, least]) => `${column}, region ${row.share * 100}%: ${times(row[column].ratio)}, wanted ${least}x`)
  ));
}
