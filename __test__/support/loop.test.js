import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { createToolResultMessage } from '@deepseek-ai/dsh-llm';
import { createLoop } from './loop.js';
import { act, call, say } from './script.js';
import { bashTool, readTool } from './tools.js';

async function loopOf(t, options) {
  const loop = await createLoop(options);
  t.after(() => loop.dispose());
  return loop;
}

test('a turn runs on the real loop and each request is judged', async (t) => {
  const loop = await loopOf(t, {
    tools: [readTool({ a: 'text of a' }), bashTool()],
    steps: { main: [
      act([call('c1', 'read', { path: 'a' }), call('c2', 'bash', { command: 'ls' })], {
        reasoning: 'hm', text: 'ok',
      }),
      say('done'),
    ] },
  });
  const agent = await loop.agent();
  assert.deepEqual(await agent.prompt('look'), { reason: { kind: 'completed' }, text: 'done' });
  const outcomes = agent.results().map(({ callId, isError }) => [callId, isError]);
  assert.deepEqual(outcomes, [['c1', false], ['c2', false]]);
  assert.equal(agent.results()[0].text, 'text of a');
  assert.deepEqual(loop.requests.map(({ lane }) => lane), ['main', 'main']);
  assert.deepEqual(
    loop.requests[1].messages.map(({ role }) => role),
    ['system', 'user', 'assistant', 'tool', 'tool'],
  );
  assert.deepEqual(loop.rejected, []);
  assert.equal(agent.fault(), undefined);
  assert.deepEqual(loop.script.left, {});
});

test('a surface that no provider would take fails the request as HTTP 400', async (t) => {
  const loop = await loopOf(t, { steps: { main: [say('one'), say('two')] }, invariants: false });
  const agent = await loop.agent();
  await agent.prompt('hello');
  const content = [{ type: 'text', text: 'x' }];
  const message = createToolResultMessage({ callId: 'c9', content, isError: false });
  agent.session.append('tool/result', { turn: 1, step: 1, message }, { surfaceOp: 'append' });
  assert.match(agent.fault().message, /must be a response to a preceding message/);
  const { reason } = await agent.prompt('again');
  assert.equal(reason.kind, 'error');
  assert.equal(reason.error.status, 400);
  assert.equal(loop.rejected.length, 1);
});

test('provider failures reach the turn with their words', async (t) => {
  const loop = await loopOf(t, { steps: { main: [
    { status: 500, error: 'boom' }, say('half', { die: true }), { garbage: 'x' },
    say('cut', { finish: 'max-tokens' }),
  ] } });
  const agent = await loop.agent();
  const codes = [];
  for (let turn = 0; turn < 3; turn += 1) codes.push((await agent.prompt('go')).reason.error.code);
  assert.deepEqual(codes, ['SERVER', 'TRANSPORT', 'MALFORMED_RESPONSE']);
  assert.deepEqual(await agent.prompt('go'), { reason: { kind: 'max-tokens' }, text: 'cut' });
});

test('a hanging model ends with the agent', async (t) => {
  const loop = await loopOf(t, { steps: { main: [say('half', { hang: true })] } });
  const agent = await loop.agent();
  const turn = agent.prompt('go');
  while (loop.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  agent.agent.cancel({ kind: 'user' });
  assert.equal((await turn).reason.kind, 'aborted');
});

test('steering, a command, a failing tool and the invariant companions', async (t) => {
  const loop = await loopOf(t, {
    tools: [readTool({ '*': new Error('no such file') })],
    steps: { main: [act(call('c1', 'read', { path: 'a' })), say('done')] },
    gate: ({ index }) => {
      if (index === 0) agent.steer('and be quick');
    },
  });
  const agent = await loop.agent();
  const handler = () => ({ kind: 'success', text: 'hi' });
  loop.ctx.commands.register({ name: 'hi', description: 'Greets.', handler });
  await agent.prompt('look');
  const outcomes = agent.results().map(({ isError, text }) => [isError, text]);
  assert.deepEqual(outcomes, [[true, 'Error: no such file']]);
  assert.match(JSON.stringify(loop.requests[1].messages.at(-1)), /and be quick/);
  assert.equal((await agent.command('/hi')).result.text, 'hi');
  assert.throws(
    () => agent.session.append('turn/end', { turn: 9, reason: { kind: 'completed' } }),
    /invariant violated/,
  );
});

test('a stored session is resumed by another composition', async (t) => {
  const store = await mkdtemp(join(tmpdir(), 'rewind-loop-'));
  t.after(() => rm(store, { recursive: true, force: true }));
  const first = await createLoop({ store, steps: { main: [say('one')] } });
  const agent = await first.agent({ meta: { cwd: store } });
  await agent.prompt('hello');
  await first.ctx.sessions.flush(agent.session);
  const { id, seq } = agent.session;
  await first.dispose();

  const second = await loopOf(t, { store, steps: { main: [say('two')] } });
  const again = await second.resume(id);
  assert.ok(again.session.seq >= seq);
  assert.deepEqual(await again.prompt('more'), { reason: { kind: 'completed' }, text: 'two' });
  assert.match(JSON.stringify(second.requests[0].messages), /hello.*one.*more/);
});

test('disposal takes everything along', async () => {
  const loop = await createLoop({ steps: { main: [say('one')] } });
  const agent = await loop.agent();
  await agent.prompt('hello');
  await loop.dispose();
  assert.equal(loop.ctx.get('agents'), undefined);
});
