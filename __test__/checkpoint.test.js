/** Taking a mark on the real loop, docs/rewind.md 5; which marks a log holds is in checkpoint-log.test.js. */
import assert from 'node:assert/strict';
import test from 'node:test';
import CodeRuntime from '@deepseek-ai/dsh-code-runtime-worker-thread';
import { Session } from '@deepseek-ai/dsh-session';
import * as checkpoint from '../plugin/checkpoint/index.js';
import { MarkIndex } from '../plugin/checkpoint/marks.js';
import { createLoop } from './support/loop.js';
import { markCall, restored, resultsOf } from './support/marks.js';
import { act, call, say } from './support/script.js';
import { readTool, scriptedTool } from './support/tools.js';

async function loopOf(t, { config, ...options }) {
  const loop = await createLoop({ plugins: [[checkpoint, config]], ...options });
  t.after(() => loop.dispose());
  return loop;
}

/** A tool whose output is what the service says at that moment. */
const askTool = (loop) => scriptedTool('ask', 'what', async (_args, { agent }) => JSON.stringify({
  latest: await loop.current.ctx.checkpoint.latestMark(agent.session.id) ?? null,
  active: await loop.current.ctx.checkpoint.hasActive(agent.session.id),
}));

test('a mark is taken inside the call: log length before its own result, call id, objective', async (t) => {
  const loop = await loopOf(t, {
    tools: [readTool()],
    steps: { main: [
      act(markCall('c1', ' find\nthe port ')), act(call('c2', 'read', { path: 'a' })), say('ok'),
    ] },
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  const [result] = resultsOf(agent.session, 'c1');
  const taken = await loop.ctx.checkpoint.latestMark(agent.session.id);
  assert.deepEqual(taken, {
    id: 1, logLength: result.seq, callId: 'c1', objective: 'find\nthe port', foldedAt: null,
  });
  assert.ok(Object.isFrozen(taken));
  assert.deepEqual(result.data.meta, {
    rewindMark: { id: 1, logLength: result.seq, callId: 'c1', objective: 'find\nthe port' },
  });
  assert.equal(await loop.ctx.checkpoint.hasActive(agent.session.id), true);
  assert.equal(
    agent.results()[0].text,
    '[checkpoint mark 1] Explore now, and call `rewind` as soon as you have found out.',
  );
  assert.deepEqual(loop.rejected, []);
});

test('ids go 1, 2, …; an empty objective is none; the latest mark is the one that counts', async (t) => {
  const loop = await loopOf(t, {
    steps: { main: [act([markCall('a', 'first')]), act(markCall('b', '  ')), act(markCall('c')), say('ok')] },
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  const marks = ['a', 'b', 'c'].map((id) => resultsOf(agent.session, id)[0].data.meta.rewindMark);
  assert.deepEqual(
    marks.map(({ id, objective }) => [id, objective]),
    [[1, 'first'], [2, undefined], [3, undefined]],
  );
  assert.equal((await loop.ctx.checkpoint.latestMark(agent.session.id)).id, 3);
});

test('a call right behind the checkpoint, in the same message, sees the mark (C3)', async (t) => {
  const later = {};
  const loop = later.current = await loopOf(t, {
    tools: [askTool(later)],
    steps: { main: [act([markCall('c1'), call('c2', 'ask', { what: '' })]), say('ok')] },
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  const seen = JSON.parse(agent.results()[1].text);
  assert.deepEqual([seen.latest.id, seen.latest.callId, seen.active], [1, 'c1', true]);
});

test('a mark is active before its result is in the log', async (t) => {
  const seen = [];
  const loop = await loopOf(t, { steps: { main: [act(markCall('c1')), say('ok')] } });
  loop.ctx.on('tools/post-execute', async (exec, _result, next) => {
    seen.push(
      resultsOf(exec.agent.session, 'c1').length,
      (await loop.ctx.checkpoint.latestMark(exec.agent.session.id)).id,
      await loop.ctx.checkpoint.hasActive(exec.agent.session.id),
    );
    return next();
  });
  await (await loop.agent()).prompt('go');
  assert.deepEqual(seen, [0, 1, true]);
});

test('a mark whose call failed after all is dropped, and the next one counts on', async (t) => {
  const loop = await loopOf(t, { steps: { main: [act(markCall('c1')), act(markCall('c2')), say('ok')] } });
  const agent = await loop.agent();
  const feedback = [{ type: 'text', text: 'not now' }];
  loop.ctx.on('tools/post-execute', (exec, _result, next) => (exec.callId === 'c1'
    ? Promise.resolve({ kind: 'block', feedback })
    : next()));
  const states = [];
  loop.ctx.on('session/event', (session, event) => {
    if (event.type === 'tool/result') states.push(loop.ctx.checkpoint.latestMark(session.id));
  });
  await agent.prompt('go');
  assert.deepEqual((await Promise.all(states)).map((mark) => mark?.callId), [undefined, 'c2']);
  assert.equal(agent.results()[0].isError, true);
  const { logLength } = await loop.ctx.checkpoint.latestMark(agent.session.id);
  assert.equal(logLength, resultsOf(agent.session, 'c2')[0].seq);
});

test('a denied call takes no mark', async (t) => {
  const loop = await loopOf(t, { steps: { main: [act(markCall('c1')), say('ok')] } });
  loop.ctx.tools.guard(() => 'no');
  const agent = await loop.agent();
  await agent.prompt('go');
  assert.equal(await loop.ctx.checkpoint.latestMark(agent.session.id), undefined);
  assert.equal(await loop.ctx.checkpoint.hasActive(agent.session.id), false);
});

test('a call without an agent is refused in a sentence', async (t) => {
  const loop = await loopOf(t, {});
  const result = await loop.ctx.tools.execute({
    callId: 'c1', name: 'checkpoint', arguments: {}, signal: new AbortController().signal,
  });
  assert.equal(result.isError, true);
  assert.match(result.error.message, /checkpoint marks an agent's session, and this call has none/);
});

test('the texts use the configured names, and the card shows the objective', async (t) => {
  const loop = await loopOf(t, {
    config: { toolName: 'mark', rewindToolName: 'fold' },
    steps: { main: [act(call('c1', 'mark')), say('ok')] },
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  assert.match(agent.results()[0].text, /call `fold`/);
  const tool = loop.ctx.tools.get('mark');
  assert.match(tool.description, /before you .* several things whose details will not matter afterwards/);
  assert.match(tool.description, /`fold`/);
  assert.doesNotMatch(tool.description, /rewind|\{\{/);
  assert.deepEqual(tool.presentCall({ objective: 'find it' }), {
    card: 'generic', title: 'Checkpoint: find it', kind: 'other',
  });
  assert.equal(tool.presentCall({}).title, 'Checkpoint');
  assert.equal(loop.ctx.tools.get('checkpoint'), undefined);
  assert.equal(loop.ctx.tools.executionMode({ name: 'mark', arguments: {} }).kind, 'exclusive');
});

test('a mark by code lives in memory and is stamped in memory', async (t) => {
  const loop = await loopOf(t, { steps: { main: [say('ok')] } });
  const { checkpoint: marks } = loop.ctx;
  const agent = await loop.agent();
  await agent.prompt('go');
  const { session } = agent;
  const length = session.seq;
  const promise = marks.mark(session, 'look around');
  session.append('session/end-seed', {});
  const taken = await promise;
  assert.deepEqual(taken, { id: 1, logLength: length, objective: 'look around', foldedAt: null });
  assert.equal(session.seq, length + 1);
  assert.equal(await marks.hasActive(session.id), true);
  await marks.completeFold(session.id, 9);
  await marks.completeFold('nobody', 1);
  assert.equal(await marks.hasActive(session.id), true);
  const before = Date.now();
  await marks.completeFold(session.id, 1);
  const { foldedAt } = await marks.latestMark(session.id);
  assert.ok(foldedAt >= before && foldedAt <= Date.now());
  await marks.completeFold(session.id, 1);
  assert.equal((await marks.latestMark(session.id)).foldedAt, foldedAt);
  assert.equal(await marks.hasActive(session.id), false);
  assert.equal(taken.foldedAt, null);
  assert.equal((await marks.mark(session)).id, 2);
});

test('a session that lives in no store can be marked', async (t) => {
  const loop = await loopOf(t, {});
  const session = Session.create('elsewhere');
  await loop.ctx.checkpoint.mark(session);
  session.append('session/end-seed', {});
  assert.equal((await loop.ctx.checkpoint.mark(session)).logLength, 1);
  assert.equal((await loop.ctx.checkpoint.latestMark('elsewhere')).id, 2);
  assert.equal(await loop.ctx.checkpoint.latestMark('nowhere'), undefined);
});

test('bad arguments of mark are refused by name', async (t) => {
  const { checkpoint: marks } = (await loopOf(t, {})).ctx;
  for (const session of [undefined, null, 'session-1', {}]) {
    await assert.rejects(marks.mark(session), { name: 'TypeError', message: /needs a session/ });
  }
  await assert.rejects(marks.mark(Session.create('s'), 3), { message: /needs a string objective .*number/ });
});

/** Runs programs on the real code runtime, and returns the agent and its `run_code` calls' texts. */
async function runPrograms(t, ...programs) {
  const later = {};
  const loop = later.current = await loopOf(t, {
    tools: [readTool({ '*': '[checkpoint mark 7] not one' }), askTool(later)],
    before: (ctx) => ctx.plugin(CodeRuntime),
    steps: { main: [
      ...programs.map((code, at) => act(call(`r${at}`, 'run_code', { code, description: 'explore' }))),
      say('ok'),
    ] },
  });
  const agent = await loop.agent();
  agent.agent.ctx.tools.presentAs('both');
  await agent.prompt('go');
  return { loop, agent, texts: agent.results().map(({ text }) => text) };
}

test('inside run_code the mark belongs to the run_code call, and the log keeps it', async (t) => {
  const { loop, agent, texts } = await runPrograms(
    t,
    'await tools.read({ path: "a" }); return (await tools.checkpoint({ objective: "find it" })).id;',
    'return (await tools.ask({ what: "" }))[0].text;',
  );
  assert.equal(texts[0], '1');
  const live = await loop.ctx.checkpoint.latestMark(agent.session.id);
  const [own] = resultsOf(agent.session, 'r0');
  assert.deepEqual(
    { ...live, logLength: undefined },
    { id: 1, callId: 'r0', objective: 'find it', foldedAt: null, logLength: undefined },
  );
  assert.ok(live.logLength < own.seq);
  assert.equal(agent.session.events[live.logLength - 1].type, 'tool/code-dispatch-start');
  assert.deepEqual(JSON.parse(texts[1]).latest, live);

  assert.deepEqual(new MarkIndex(restored(agent.session), 'checkpoint').latest(), live);
});

test('inside run_code a failing checkpoint takes no mark, nor does a text that reads like one', async (t) => {
  const { loop, agent } = await runPrograms(
    t,
    `await tools.read({ path: "a" });
    try { await tools.checkpoint({ objective: 3 }); } catch (error) { return "no"; }`,
  );
  assert.equal(agent.results()[0].text, 'no');
  assert.equal(await loop.ctx.checkpoint.latestMark(agent.session.id), undefined);
});
