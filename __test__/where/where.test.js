/** `checkpoint` and `rewind` through run_code, in subagents and in forks: the marks stay where they belong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import CodeRuntime from '@deepseek-ai/dsh-code-runtime-worker-thread';
import SubagentRuntime from '@deepseek-ai/dsh-subagent';
import * as forkProvider from '@deepseek-ai/dsh-subagent-fork-in-process';
import * as spawnProvider from '@deepseek-ai/dsh-subagent-spawn-in-process';
import * as rewind from '../../index.js';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import { createLoop, fromPerson } from '../support/loop.js';
import { act, call, say } from '../support/script.js';
import { readTool } from '../support/tools.js';

const REPORT = '## Findings\nThe port is 7777.';
const PLUGINS = [[rewind, {}], [checkpoint, {}]];

async function loopOf(t, options) {
  const loop = await createLoop({ plugins: PLUGINS, tools: [readTool()], ...options });
  t.after(() => loop.dispose());
  return loop;
}

const reports = ({ events }) => events.filter(({ type, data }) => (
  type === 'user/message' && data.source.plugin === 'rewind'
)).map(({ data }) => data.source.markId);

/** Runs one program a step through the real code runtime. */
async function programs(t, ...steps) {
  const loop = await loopOf(t, {
    before: (ctx) => ctx.plugin(CodeRuntime),
    steps: {
      main: [...steps.map((step, at) => (typeof step === 'string'
        ? act(call(`p${at}`, 'run_code', { code: step, description: 'explore' }))
        : step)), say('done')],
      report: [say(REPORT)],
    },
  });
  const agent = await loop.agent();
  agent.agent.ctx.tools.presentAs('both');
  const { reason } = await agent.prompt('find the port');
  assert.equal(reason.kind, 'completed');
  assert.equal(agent.fault(), undefined);
  assert.deepEqual(loop.rejected, []);
  return agent;
}

test('through run_code: a mark in one program, the exploration in calls, the fold in another program', async (t) => {
  const agent = await programs(
    t,
    'return (await tools.checkpoint({ objective: "find the port" })).id;',
    act([call('r1', 'read', { path: 'a' }), call('r2', 'read', { path: 'b' })]),
    'return (await tools.rewind({})).foldedNodes;',
  );
  assert.deepEqual(reports(agent.session), [1]);
  assert.equal(agent.results().find(({ callId }) => callId === 'p2').text, '3');
  const left = agent.surface().filter(({ type }) => type === 'tool/result').map(({ data }) => data.message.content[0].toolCallId);
  assert.deepEqual(left, ['p0', 'p2'], 'the programs that marked and folded stay, what lay between is gone');
});

test('through run_code: mark, exploration and fold in one program leave nothing on the surface to fold', async (t) => {
  const agent = await programs(
    t,
    `await tools.checkpoint({ objective: 'find the port' });
    await tools.read({ path: 'a' });
    try { await tools.rewind({}); } catch (error) { return String(error.message ?? error); }
    return 'folded';`,
  );
  assert.match(agent.results()[0].text, /Nothing to fold: no step stands after the checkpoint of mark 1/);
  assert.deepEqual(reports(agent.session), []);
});

for (const provider of ['fork', 'spawn']) {
  test(`a ${provider} subagent: without a mark a sentence, with its own mark its own steps`, async (t) => {
    const isChild = ({ options }) => options.maxTokens !== 1024
      && options.messages.some(({ content }) => JSON.stringify(content).includes('CHILD TASK'));
    const loop = await loopOf(t, {
      before: async (ctx) => {
        await ctx.plugin(SubagentRuntime);
        await ctx.plugin({ fork: forkProvider, spawn: spawnProvider }[provider], {});
      },
      match: { child: isChild },
      steps: {
        main: [act(call('cp', 'checkpoint', { objective: 'the parent' })), act(call('r0', 'read', { path: 'p' })), say('paused'), say('still paused')],
        child: [
          act(call('w1', 'rewind')),
          act(call('k1', 'checkpoint', { objective: 'the child' })),
          act([call('k2', 'read', { path: 'a' }), call('k3', 'read', { path: 'b' })]),
          act(call('k4', 'rewind')),
          say('the child is done'),
        ],
        report: [say(REPORT)],
      },
    });
    const parent = await loop.agent();
    parent.agent.followup(fromPerson('look into it'));
    await parent.agent.whenIdle();
    const before = [...parent.session.surface.nodes];
    const run = await loop.ctx.subagents.start(provider, {
      prompt: [{ type: 'text', text: 'CHILD TASK' }], parent: parent.agent, signal: new AbortController().signal,
    });
    const child = run.localAgent.session;
    const { stopReason } = await run.result;
    assert.equal(stopReason.kind ?? stopReason, 'completed');
    const refused = child.events.find(({ type, data }) => (
      type === 'tool/result' && data.message.content[0].toolCallId === 'w1'
    ));
    assert.match(refused.data.message.content[0].content[0].text, /No checkpoint is set in this session/);
    assert.equal(refused.data.error.code, 'NO_CHECKPOINT');
    assert.equal(reports(child).length, 1);
    await run.dispose();
    assert.deepEqual([...parent.session.surface.nodes], before);
    assert.equal(await loop.ctx.checkpoint.hasActive(parent.session.id), true);
  });
}

test('a person\'s fork inherits the mark with the log and folds its own copy', async (t) => {
  const loop = await loopOf(t, {
    steps: {
      main: [
        act(call('cp', 'checkpoint', { objective: 'find the port' })),
        act([call('r1', 'read', { path: 'a' }), call('r2', 'read', { path: 'b' })]),
        say('enough for now'),
        say('enough for now'),
        act(call('rw', 'rewind')),
        say('folded'),
      ],
      report: [say(REPORT)],
    },
  });
  const parent = await loop.agent();
  await parent.prompt('find the port');
  const seed = [...parent.session.events];
  const fork = await loop.agent({ seed, meta: { parentSession: parent.session.id, seedLength: seed.length } });
  fork.agent.followup(fromPerson('fold it'));
  await fork.agent.whenIdle();
  assert.deepEqual(reports(fork.session), [1]);
  assert.equal(fork.fault(), undefined);
  assert.deepEqual(reports(parent.session), []);
  assert.equal(await loop.ctx.checkpoint.hasActive(parent.session.id), true);
  assert.equal(await loop.ctx.checkpoint.hasActive(fork.session.id), false);
});
