/** `dsh-rewind` over sessions of the real loop, and over recorded ones. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { deriveEventMessage, foldSurface } from '@deepseek-ai/dsh-session';
import * as rewind from '../../index.js';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import * as recall from '../../plugin/recall/index.js';
import { dataRoot, sessions, testWithData } from '../support/data.js';
import { createLoop } from '../support/loop.js';
import { act, call, say } from '../support/script.js';
import { bashTool, readTool } from '../support/tools.js';
import { toWire, wireFault } from '../support/wire.js';
import { auditOf, dshRewind, scratch, writeSession } from './run.js';

const FILES = { 'a.rs': 'fn a() {}\n'.repeat(300), 'b.rs': 'fn b() {}\n'.repeat(300) };
const read = (id, path) => call(id, 'read', { path });

/** A session with a fold in two segments, a rewritten sibling, a second reading and a recall. */
async function played(t) {
  const person = {};
  const steering = bashTool(() => {
    person.steer('only in staging!');
    return 'bash output\n'.repeat(100);
  });
  const loop = await createLoop({
    tools: [readTool(FILES), steering],
    plugins: [[rewind, {}], [checkpoint, {}], [recall, {}]],
    steps: {
      main: [
        act([call('cp', 'checkpoint', { objective: 'who defines b' }), read('s1', 'a.rs')]),
        act([call('b1', 'bash', { command: 'make' })]),
        act([read('r1', 'b.rs')]),
        act([call('rw', 'rewind')]),
        act([read('r2', 'b.rs'), call('q1', 'recall', { path: 'a.rs' })]),
        say('b.rs does.'),
      ],
      report: [say('b.rs defines b.', { usage: { input: 900, cached: 800, output: 40 } })],
    },
  });
  t.after(() => loop.dispose());
  const agent = await loop.agent();
  person.steer = (words) => agent.steer(words);
  await agent.prompt('who defines b?');
  assert.deepEqual(loop.rejected, []);
  return { loop, agent, session: agent.session };
}

test('a session of the real loop is clean, and its numbers are the harness\'s own', async (t) => {
  const { loop, session } = await played(t);
  const path = join(scratch(t), 'session.jsonl');
  writeSession(path, session);
  const { code, audits: [audit] } = auditOf(path);
  assert.deepEqual([code, audit.findings], [0, []]);
  assert.equal(audit.events, session.events.length);
  const measured = loop.ctx.tokenMeter.measure(session);
  assert.deepEqual(audit.surface, {
    nodes: session.surface.nodes.length,
    chars: charsOf(session.surface.nodes.map((seq) => session.events[seq])),
    tokens: measured.nodes.reduce((sum, { tokens }) => sum + tokens, 0),
  });
  assert.equal(audit.requests.count, loop.requests.filter(({ maxTokens }) => maxTokens !== 1024).length);

  const report = session.events.find(({ data }) => data.source?.plugin === 'rewind');
  const { foldedNodes, foldedChars, foldedTokens, reportChars, start } = report.data.source;
  const { marks: [mark], folds: [fold], replacements } = audit;
  assert.deepEqual([mark.id, mark.objective, mark.report], ['1', 'who defines b', report.seq]);
  assert.deepEqual(
    [fold.report, fold.nodes, fold.chars, fold.landedChars, fold.tokens, fold.inputTokens, fold.cachedTokens],
    [report.seq, foldedNodes, foldedChars, reportChars, foldedTokens, 900, 800],
  );
  assert.equal(fold.readAgain, 2, 'b.rs was read again, a.rs recalled');
  assert.deepEqual(replacements.map(({ by }) => by), ['rewind report', 'rewind pointer', 'rewind sibling']);
  assert.equal(replacements[2].start, start);
  assert.deepEqual(audit.shadowedPersons, []);
});

test('show gives back the originals of a fold, event by event', async (t) => {
  const { session } = await played(t);
  const path = join(scratch(t), 'session.jsonl');
  writeSession(path, session);
  const report = session.events.find(({ data }) => data.source?.plugin === 'rewind');
  const shown = JSON.parse(dshRewind('show', '--json', path, String(report.seq)).stdout);
  assert.deepEqual(shown.event, report);
  assert.deepEqual(shown.originals.map(({ event }) => event), report.sourceEventSeqs.map((seq) => session.events[seq]));
  const sibling = session.events.find(({ type, data }) => type === 'tool/result' && data.message.source.callId === 's1');
  assert.match(dshRewind('show', path, String(sibling.seq)).stdout, /: taken by s\d+ \(rewind sibling\)\n\ns\d+ read /);
});

test('the dry run plans what the fold then does', async (t) => {
  const loop = await createLoop({
    tools: [readTool(FILES)],
    plugins: [[rewind, { report: 'receipt' }], [checkpoint, {}]],
    steps: {
      main: [
        act([call('cp', 'checkpoint'), read('s1', 'a.rs')]), act([read('r1', 'b.rs')]), act([call('rw', 'rewind')]),
        say('ok'),
      ],
    },
  });
  t.after(() => loop.dispose());
  const agent = await loop.agent();
  await agent.prompt('who defines b?');
  const { session } = agent;
  const report = session.events.find(({ data }) => data.source?.plugin === 'rewind');
  const mark = session.events.find(({ data }) => data.meta?.rewindMark !== undefined);
  const path = join(scratch(t), 'session.jsonl');
  writeSession(path, session);
  const before = report.seq - 1;
  const { stdout } = dshRewind(
    'fold', '--json', path, '--from', String(mark.data.meta.rewindMark.logLength), '--to', String(before),
  );
  const planned = JSON.parse(stdout);
  assert.deepEqual(planned.segments, [report.sourceEventSeqs]);
  const { foldedNodes, foldedChars, foldedTokens } = report.data.source;
  assert.deepEqual(
    [planned.foldedNodes, planned.foldedChars, planned.foldedTokens],
    [foldedNodes, foldedChars, foldedTokens],
  );
  const own = report.data.content[0].text;
  assert.equal(planned.report.replace('of mark 0]', 'of mark 1]'), own);
});

function charsOf(events) {
  const count = (blocks) => blocks.reduce((sum, block) => {
    if (block.type === 'tool-result') return sum + count(block.content);
    return sum + (block.text ?? block.arguments ?? '').length;
  }, 0);
  return events.reduce((sum, { type, data }) => sum + count((type === 'user/message' ? data : data.message).content), 0);
}

/** The events of a recorded log, packed rows expanded and seqs put in where it leaves them out. */
function eventsOf(rows) {
  const events = [];
  for (const row of rows.slice(1)) {
    const members = row.data?.texts ?? row.data?.args;
    if (row.type.endsWith('-chunks')) {
      for (const _ of members) events.push({ type: 'assistant/chunk', seq: events.length, time: 0, data: {} });
    } else {
      events.push({ ...row, seq: events.length, time: 0 });
    }
  }
  return events;
}

testWithData('recorded sessions of the harness are clean, and their sizes the harness\'s own', async (t) => {
  const loop = await createLoop({});
  t.after(() => loop.dispose());
  const { code, audits } = auditOf(join(dataRoot, 'dsh'));
  const all = sessions('dsh');
  assert.deepEqual([code, audits.length], [0, all.length]);
  for (const [index, { name, rows }] of all.entries()) {
    const audit = audits[index];
    assert.ok(audit.path.endsWith(name));
    assert.deepEqual(audit.findings, [], name);
    const events = eventsOf(rows());
    const surface = foldSurface(events).nodes.map((seq) => events[seq]);
    const messages = surface.map(deriveEventMessage);
    assert.equal(audit.events, events.length, name);
    assert.deepEqual(audit.surface, {
      nodes: surface.length,
      chars: charsOf(surface),
      tokens: messages.reduce((sum, message) => sum + (message ? loop.ctx.tokenMeter.estimateMessage(message) : 0), 0),
    }, name);
  }
});

testWithData('recorded trajectories: every request is judged as the strict provider judges it', () => {
  const { audits } = auditOf(join(dataRoot, 'trajectories'));
  for (const [index, { name, rows }] of sessions('trajectories').entries()) {
    const { requests, findings } = audits[index];
    const events = eventsOf(rows());
    let count = 0;
    let refused = 0;
    const messages = [];
    for (const event of events.filter(({ surfaceOp }) => surfaceOp !== undefined)) {
      if (event.type === 'assistant/message') {
        count += 1;
        if (wireFault(toWire({ messages })) !== undefined) refused += 1;
      }
      const message = deriveEventMessage(event);
      if (message) messages.push(message);
    }
    assert.deepEqual([requests.count, requests.refused], [count, refused], name);
    assert.equal(findings.length > 0, refused > 0, name);
    assert.ok(findings.every(({ code, by }) => code === 'wire-fault' && by === undefined), name);
  }
});

test('what it cannot use is named, with exit code 2', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-rewind-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const empty = dshRewind('audit', folder);
  assert.equal(empty.code, 2);
  assert.match(empty.stderr, /^dsh-rewind: .*: no file below it ends in \.jsonl or \.jsonl\.zstd\.\n$/);
  const usage = dshRewind('audit');
  assert.deepEqual([usage.code, usage.stdout], [2, '']);
  assert.match(usage.stderr, /Usage: dsh-rewind audit/);
  const help = dshRewind('--help');
  assert.deepEqual([help.code, help.stderr], [0, '']);
  assert.match(help.stdout, /Examples:/);
});
