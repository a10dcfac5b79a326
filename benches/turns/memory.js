/**
 * What one turn costs in memory behind a log of the length given as argument: the table of the log, and many
 * drafts of its last turn held at once, so that a process can see them. A process of its own a length, for
 * memory once freed hides what is taken next. Prints bytes a draft, the table's share included.
 */
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { native } from '../../plugin/native.js';
import { scriptOf } from '../../plugin/turn-memory/script.js';
import { spanOf, turnsOf } from '../../plugin/turn-memory/turns.js';
import { longLog } from './log.js';

const HELD = 500;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

function inUse() {
  for (let pass = 0; pass < 3; pass += 1) collect();
  return process.memoryUsage.rss();
}

const events = longLog(Number(process.argv[2]));
const nodes = events.filter(({ surfaceOp }) => surfaceOp).map(({ seq }) => seq);
const session = { seq: events.length, events, surface: { nodes } };
const turn = events.at(-1).data.turn;
const draft = () => {
  const span = spanOf(session, turn, events);
  return native.draftTurn(scriptOf(span.map((seq) => events[seq]), turn), 20_000, 2000);
};
// Everything is warm before the first look: what is compiled once is no cost of a turn.
for (let run = 0; run < 200; run += 1) draft().close();
const before = inUse();
const drafts = Array.from({ length: HELD }, draft);
const bytes = (inUse() - before) / HELD;
assert.ok(turnsOf(session).anyCompleted && drafts.every(({ unfinished }) => unfinished.length > 0));
process.stdout.write(`${Math.round(bytes)}\n`);
