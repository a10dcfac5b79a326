/** Which marks a log holds and what became of them, docs/rewind.md 5, 1.3, 1.8 and 3.5. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import SubagentRuntime from '@deepseek-ai/dsh-subagent';
import * as forkProvider from '@deepseek-ai/dsh-subagent-fork-in-process';
import * as checkpoint from '../plugin/checkpoint/index.js';
import { MarkIndex } from '../plugin/checkpoint/marks.js';
import { createLoop } from './support/loop.js';
import { landReport, markCall, restored, resultsOf, rewriteResult } from './support/marks.js';
import { act, call, say } from './support/script.js';
import { readTool, scriptedTool } from './support/tools.js';

/** A loop after one turn of the given steps. */
async function played(t, steps, { now, read, ...options } = {}) {
  const loop = await createLoop({
    plugins: [[checkpoint]],
    tools: [readTool(read), scriptedTool('now', 'what', (_args, exec) => now(exec) ?? 'ok')],
    steps: { main: steps },
    ...options,
  });
  t.after(() => loop.dispose());
  const agent = await loop.agent();
  await agent.prompt('go');
  return { loop, agent, session: agent.session, marks: loop.ctx.checkpoint };
}

const EXPLORE = [act(markCall('c1', 'find it')), act(call('c2', 'read', { path: 'a' })), say('found')];
const latestOf = (session) => new MarkIndex(session, 'checkpoint').latest();

test('a resumed session has its mark, its objective and its next id', async (t) => {
  const store = await mkdtemp(join(tmpdir(), 'rewind-marks-'));
  t.after(() => rm(store, { recursive: true, force: true }));
  const plugins = [[checkpoint]];
  const first = await createLoop({ store, plugins, tools: [readTool()], steps: { main: EXPLORE } });
  const agent = await first.agent({ meta: { cwd: store } });
  await agent.prompt('go');
  const before = await first.ctx.checkpoint.latestMark(agent.session.id);
  await first.ctx.sessions.flush(agent.session);
  await first.dispose();

  const second = await createLoop({ store, plugins, steps: { main: [act(markCall('c9')), say('ok')] } });
  t.after(() => second.dispose());
  const again = await second.resume(agent.session.id);
  assert.notEqual(again.session, agent.session);
  assert.deepEqual(await second.ctx.checkpoint.latestMark(again.session.id), before);
  assert.equal(await second.ctx.checkpoint.hasActive(again.session.id), true);
  await again.prompt('more');
  assert.equal((await second.ctx.checkpoint.latestMark(again.session.id)).id, 2);
});

test('the append of the report is the completion, by itself, and outlives a resume (R1)', async (t) => {
  const { session, marks } = await played(t, EXPLORE);
  const { nodes } = session.surface;
  const report = landReport(session, 1, nodes[nodes.indexOf(resultsOf(session, 'c1')[0].seq) + 1]);
  const folded = await marks.latestMark(session.id);
  assert.deepEqual([folded.id, folded.foldedAt], [1, report.time]);
  assert.equal(await marks.hasActive(session.id), false);
  await marks.completeFold(session.id, 1);
  assert.equal((await marks.latestMark(session.id)).foldedAt, report.time);
  assert.deepEqual(latestOf(restored(session)), folded);
});

test('a report completes its own mark alone (C1)', async (t) => {
  const { session, marks } = await played(t, [
    act(markCall('c1')), act(call('c2', 'read', { path: 'a' })), act(markCall('c3')), say('ok'),
  ], { invariants: false });
  landReport(session, 1);
  assert.equal((await marks.latestMark(session.id)).id, 2);
  assert.equal(await marks.hasActive(session.id), true);
  for (const source of [
    { plugin: 'rewind-guard' }, { plugin: 'rewind-pointer' }, { markId: '2' }, { kind: 'user' },
  ]) {
    landReport(session, 2, undefined, source);
    assert.equal(await marks.hasActive(session.id), true, JSON.stringify(source));
  }
  landReport(session, 2);
  assert.equal(await marks.hasActive(session.id), false);
});

test('a report older than the mark is not its report, and its id is not given again', async (t) => {
  const { session, marks } = await played(t, [say('ok')]);
  const memory = await marks.mark(session);
  landReport(session, memory.id);
  const copy = restored(session);
  const index = new MarkIndex(copy, 'checkpoint');
  assert.equal(index.latest(), undefined);
  assert.equal(index.take().id, memory.id + 1);
  // Written by a hand that does give it again: the old report is of another mark.
  copy.append('tool/result', {
    turn: 1, step: 1, meta: { rewindMark: { id: memory.id, logLength: copy.seq } },
    message: {
      id: 'm', role: 'user', source: { kind: 'tool', callId: 'x' },
      content: [{ type: 'tool-result', toolCallId: 'x', isError: false, content: [] }],
    },
  }, { surfaceOp: 'append' });
  assert.deepEqual([index.latest().callId, index.latest().foldedAt], ['x', null]);
});

test('a report in a sibling of the checkpoint call completes the mark, in this form alone', async (t) => {
  const seen = [];
  const { session } = await played(t, [
    act([call('c0', 'read', { path: 'a' }), markCall('c1'), call('c2', 'read', { path: 'b' })]),
    act(call('c3', 'read', { path: 'c' })),
    act(call('c4', 'now', { what: '' })),
    say('ok'),
  ], {
    read: { '*': '[rewind report of mark 1] in an appended result' },
    now: ({ agent }) => {
      seen.push(latestOf(agent.session).foldedAt);
      for (const [callId, text] of [
        ['c3', '[rewind report of mark 1] for a call outside the carrier'],
        ['c2', 'see [rewind report of mark 1]'],
        ['c0', '[rewind report of mark 1] for a call answered before the mark'],
        ['c2', '[rewind report of mark 2] of a mark that is not'],
      ]) {
        rewriteResult(agent.session, callId, text);
        seen.push(latestOf(agent.session).foldedAt);
      }
      const report = rewriteResult(agent.session, 'c2', '[rewind report of mark 1] what was found');
      seen.push(latestOf(agent.session).foldedAt === report.time);
    },
  });
  assert.deepEqual(seen, [null, null, null, null, null, true]);
  assert.notEqual(latestOf(restored(session)).foldedAt, null);
});

test('a call id that comes again in a later message does not stand in the carrier', async (t) => {
  const fates = [];
  await played(t, [
    act([markCall('call_0'), call('call_1', 'read', { path: 'b' })]),
    act(call('call_1', 'read', { path: 'c' })),
    act(call('call_0', 'now', { what: '' })),
    say('ok'),
  ], {
    now: ({ agent }) => {
      rewriteResult(agent.session, 'call_1', '[rewind report of mark 1] in text of a file');
      fates.push(latestOf(agent.session).foldedAt);
    },
  });
  assert.deepEqual(fates, [null]);
});

test('a report with an id of another provider leaves the count of ids alone', async (t) => {
  const { session, marks } = await played(t, [say('ok')]);
  landReport(session, 'abc');
  landReport(session, 0.5);
  assert.equal((await marks.mark(session)).id, 1);
});

test('rewriting the checkpoint result itself does not make a second mark', async (t) => {
  let last;
  const steps = [act(markCall('c1')), act(markCall('c2')), act(call('c3', 'now', { what: '' })), say('ok')];
  const { session } = await played(t, steps, {
    now: ({ agent }) => {
      rewriteResult(agent.session, 'c1', 'cut');
      last = latestOf(agent.session);
    },
  });
  assert.equal(last.callId, 'c2');
  assert.equal(new MarkIndex(session, 'checkpoint').take().id, 3);
});

test("a person's fork inherits the mark with the log, and goes its own way", async (t) => {
  const { loop, session, marks } = await played(t, EXPLORE);
  const fork = loop.ctx.sessions.fork(session);
  assert.deepEqual(await marks.latestMark(fork.id), await marks.latestMark(session.id));
  assert.equal(await marks.hasActive(fork.id), true);
  landReport(fork, 1);
  assert.equal(await marks.hasActive(fork.id), false);
  assert.equal(await marks.hasActive(session.id), true);
  assert.equal((await marks.mark(fork)).id, 2);
});

test('a subagent owns only marks at or after its seed (R7)', async (t) => {
  const { loop, session, marks } = await played(t, EXPLORE);
  const child = loop.ctx.sessions.create('child', {
    seed: session.events.slice(),
    meta: { origin: 'subagent', parentSession: session.id, seedLength: session.seq, delegationDepth: 1 },
  });
  assert.equal(await marks.latestMark('child'), undefined);
  assert.equal(await marks.hasActive('child'), false);
  const own = await marks.mark(child);
  assert.equal(own.id, 2);
  assert.deepEqual(await marks.latestMark('child'), own);
  assert.equal((await marks.latestMark(session.id)).id, 1);
  const fresh = loop.ctx.sessions.create('spawned', { meta: { origin: 'subagent', delegationDepth: 1 } });
  assert.equal((await marks.mark(fresh)).id, 1);
  assert.equal(await marks.hasActive('spawned'), true);
});

test('a forked subagent of the real runtime starts without a mark and takes its own', async (t) => {
  const { loop, agent, session, marks } = await played(t, [
    act(markCall('c1')), say('ok'), act(markCall('k1')), say('done'),
  ], {
    before: async (ctx) => {
      await ctx.plugin(SubagentRuntime);
      await ctx.plugin(forkProvider);
    },
  });
  const run = await loop.ctx.subagents.start('fork', {
    prompt: [{ type: 'text', text: 'look' }], parent: agent.agent, signal: new AbortController().signal,
  });
  const child = run.localAgent.session;
  assert.ok(child.header.seedLength > resultsOf(session, 'c1')[0].seq);
  assert.equal(await marks.hasActive(child.id), false);
  await run.result;
  const own = await marks.latestMark(child.id);
  assert.deepEqual([own.id, own.callId], [2, 'k1']);
  assert.equal((await marks.latestMark(session.id)).callId, 'c1');
  await run.dispose();
  assert.equal(await marks.latestMark(child.id), undefined);
});

test('a discarded mark is as if it had never been taken, with the unfolded ones before it; a folded one is left', async (t) => {
  const { session, marks } = await played(t, [act(markCall('c1')), act(markCall('c2')), act(markCall('c3')), say('ok')]);
  await marks.completeFold(session.id, 1);
  assert.equal(await marks.discard(session.id, 7), undefined);
  assert.equal(await marks.discard(session.id, 3), resultsOf(session, 'c3')[0].seq);
  assert.equal((await marks.latestMark(session.id)).id, 1);
  assert.equal(await marks.hasActive(session.id), false);
  assert.equal(await marks.discard(session.id, 1), undefined);
  assert.equal((await marks.latestMark(session.id)).id, 1);
  assert.equal((await marks.mark(session)).id, 4);
  assert.equal(await marks.discard(session.id, 4), undefined);
  assert.equal(await marks.hasActive(session.id), false);
});

test('a discard by a command outlives a resume through the record of the command', async (t) => {
  const steps = [act(markCall('c1')), act(markCall('c2')), say('ok'), act(markCall('c3')), say('ok')];
  const { loop, agent, session, marks } = await played(t, steps);
  let answer;
  loop.ctx.commands.register({ name: 'rewind', description: 'test', handler: () => answer() });
  const discard = async (kind) => {
    const { id } = await marks.latestMark(session.id);
    return { kind, text: 'set aside', sourceEventSeq: await marks.discard(session.id, id) };
  };

  answer = () => discard('success');
  await agent.command('/rewind discard');
  assert.equal(await marks.latestMark(session.id), undefined);
  assert.equal(latestOf(restored(session)), undefined);

  await agent.prompt('again');
  answer = () => discard('error');
  await agent.command('/rewind discard');
  assert.equal(await marks.latestMark(session.id), undefined);
  assert.equal(latestOf(restored(session)).id, 3);

  const [{ seq }] = resultsOf(session, 'c3');
  answer = () => ({ kind: 'success', sourceEventSeq: seq });
  await agent.command('/rewind show');
  assert.equal(latestOf(restored(session)).id, 3);

  landReport(session, 3);
  await agent.command('/rewind discard');
  assert.notEqual(latestOf(restored(session)).foldedAt, null);
});
