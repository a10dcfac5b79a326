/** `compact_turn` and the triggers: which turn is tried when, and what each outcome is called. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as turnMemory from '../../plugin/turn-memory/index.js';
import { act, always, call, say } from '../support/script.js';
import { createLoop } from '../support/loop.js';
import { readTool } from '../support/tools.js';
import {
  LONG, MATCH, accounts, assertSound, callTool, checkpoints, landed, lastText, stage, until, work,
} from './stage.js';

const compact = (loop, agent, args = {}) => callTool(loop, agent, 'compact_turn', args);
const summaries = (loop) => loop.adapter.of('summary');
const turnsAsked = (loop) => summaries(loop).map((request) => Number(/process of turn (\d+)/.exec(lastText(request))[1]));

/** Waits until what was started has come to its end: nothing is asked or lands any more. */
async function quiet(loop) {
  for (let seen = -1; seen !== loop.requests.length;) {
    seen = loop.requests.length;
    await sleep(60);
  }
}

test('asking before any turn has ended, and for turns that cannot be', async (t) => {
  const loop = await stage(t, { steps: { summary: [say('no')] }, config: { maxAttemptsPerTurn: 1 } });
  const agent = await loop.agent();
  const first = await compact(loop, agent);
  assert.match(first.text, /^Error: NO_COMPLETED_TURN: /);
  assert.equal(first.error.code, 'NO_COMPLETED_TURN');
  assert.match((await compact(loop, agent, { turn: 2 })).text, /^Error: TURN_OPEN: turn 2 /);
  assert.match((await compact(loop, agent, { turn: 40 })).text, /^Error: TURN_NOT_FOUND: there is no turn 40 /);
  assert.match((await compact(loop, agent, { turn: -1 })).text, /^Error: TURN_NOT_FOUND: /);
});

test('a turn that was given up is started over by its number alone', async (t) => {
  let answer = () => say('no');
  const loop = await stage(t, {
    config: { maxAttemptsPerTurn: 2 },
    steps: { main: [...work('one'), say('idle again')], summary: always((request) => answer(request)) },
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  await until(() => summaries(loop).length === 1, 'the first attempt');
  await agent.prompt('and?');
  await until(() => summaries(loop).length === 2, 'the second attempt');
  await quiet(loop);
  const given = await compact(loop, agent);
  assert.match(given.text, /^Error: ATTEMPTS_EXHAUSTED: turn 1 was tried 2 times \(last outcome: WORKING_UNTOUCHED\)/);
  answer = accounts();
  const again = await compact(loop, agent, { turn: 1 });
  assert.equal(again.isError, false);
  assert.match(again.text, /^started: turn 1 .* Its last outcome was WORKING_UNTOUCHED\.$/);
  await landed(agent, 1);
  assert.match((await compact(loop, agent, { turn: 1 })).text, /^Error: ALREADY_REPLACED: turn 1 /);
  assertSound(loop, agent);
});

test('without a number the newest raw turn that can shrink is taken', async (t) => {
  const loop = await stage(t, {
    config: { maxAttemptsPerTurn: 1 },
    steps: { main: [...work('one'), say('tiny')], summary: [say('no')] },
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  await until(() => summaries(loop).length === 1, 'the attempt');
  await agent.prompt('hi');
  await quiet(loop);
  // Turn 2 is too small, turn 1 was given up.
  assert.match((await compact(loop, agent)).text, /^Error: ATTEMPTS_EXHAUSTED: turn 1 /);
  assert.match((await compact(loop, agent, { turn: 2 })).text, /^Error: NO_SHRINK: turn 2 /);
});

test('when every ended turn is done or hopeless, it says so', async (t) => {
  const loop = await stage(t, { steps: { main: work('one'), summary: [accounts()] } });
  const agent = await loop.agent();
  await agent.prompt('go');
  await landed(agent, 1);
  assert.match((await compact(loop, agent)).text, /^Error: ALREADY_REPLACED: every ended turn /);
  // The turn of that call has ended raw and is too small.
  assert.match((await compact(loop, agent)).text, /^Error: NO_SHRINK: turn 2 /);
});

test('one summary runs at a time; the second waits, and a running one is not started twice', async (t) => {
  const { promise: released, resolve: release } = Promise.withResolvers();
  const loop = await stage(t, {
    config: { maxAttemptsPerTurn: 1 },
    gate: (request) => (request.lane === 'summary' ? released : undefined),
    steps: { main: work('one'), summary: always(accounts()) },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  await until(() => summaries(loop).length === 1, 'the first summary');
  assert.match((await compact(loop, agent)).text, /^Error: ALREADY_RUNNING: turn 1 /);
  loop.script.push('main', ...work('two'));
  await agent.prompt('second');
  const queued = await compact(loop, agent, { turn: 3 });
  assert.match(queued.text, /^started: turn 3 is being summarized in the background; .* It waits for turn 1\.$/);
  assert.equal(summaries(loop).length, 1);
  release();
  await landed(agent, 1);
  await landed(agent, 3);
  assertSound(loop, agent);
});

test('idle takes the newest turn first, then the older ones of this process, oldest first', async (t) => {
  const loop = await stage(t, {
    config: { maxAttemptsPerTurn: 3 },
    steps: {
      main: [...work('one'), ...work('two'), ...work('three')],
      summary: [say('no'), say('no'), say('no'), accounts(), accounts(), accounts()],
    },
  });
  const agent = await loop.agent();
  await agent.prompt('1');
  await until(() => summaries(loop).length === 1);
  await agent.prompt('2');
  await until(() => summaries(loop).length === 3);
  await agent.prompt('3');
  await until(() => checkpoints(agent).length === 3, 'all three');
  assert.deepEqual(turnsAsked(loop), [1, 2, 1, 3, 1, 2]);
  assertSound(loop, agent);
});

test('a process that ends after its turn starts nothing at idle', async (t) => {
  const loop = await stage(t, {
    before: (ctx) => {
      ctx.provide('headlessStartup', { task: 'go' });
    },
    steps: { main: work('one') },
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  await quiet(loop);
  assert.equal(summaries(loop).length, 0);
});

test('a resumed session summarizes its last raw turn at once, and no older gap', async (t) => {
  const store = mkdtempSync(join(tmpdir(), 'turn-memory-store-'));
  t.after(() => rmSync(store, { recursive: true, force: true }));
  const first = await createLoop({ store, tools: [readTool({ '*': LONG })], steps: { main: [
    act([call('a', 'read', { path: 'a' })]), say('one'), act([call('b', 'read', { path: 'b' })]), say('two'),
  ] } });
  const agent = await first.agent({ id: 'session-resumed' });
  await agent.prompt('1');
  await agent.prompt('2');
  await first.ctx.sessions.flush(agent.session);
  await first.dispose();

  const loop = await stage(t, { store, steps: { summary: [accounts()] } });
  const resumed = await loop.resume('session-resumed');
  const event = await landed(resumed, 2);
  await quiet(loop);
  assert.deepEqual(turnsAsked(loop), [2]);
  assert.equal(checkpoints(resumed).length, 1);
  assertSound(loop, resumed);

  // The checkpoint is in the store: another resume of the same log goes on with the turn before it.
  await loop.ctx.sessions.flush(resumed.session);
  await resumed.dispose();
  loop.script.push('summary', accounts());
  const again = await loop.resume('session-resumed');
  assert.deepEqual(checkpoints(again).map(({ seq }) => seq), [event.seq]);
  await landed(again, 1);
  assertSound(loop, again);
});

test('agents that live already when the plugin loads are treated as created', async (t) => {
  const loop = await createLoop({
    match: MATCH,
    tools: [readTool({ '*': LONG })],
    steps: { main: [act([call('a', 'read', { path: 'a' })]), say('one')], summary: [accounts()] },
  });
  t.after(() => loop.dispose());
  const agent = await loop.agent();
  await agent.prompt('1');
  await loop.mount(turnMemory, {});
  await landed(agent, 1);
  assertSound(loop, agent);
});

test("a subagent's turns are never summarized, and its own request is refused", async (t) => {
  const loop = await stage(t, {
    match: { ...MATCH, child: ({ options }) => options.messages.some(({ content }) => content[0].text === 'child task') },
    steps: { main: [], child: [...work('found').slice(0, 2), act([call('c', 'compact_turn', {})]), say('done')] },
  });
  const agent = await loop.agent();
  const run = await loop.ctx.subagents.start('spawn', {
    prompt: [{ type: 'text', text: 'child task' }], parent: agent.agent, signal: new AbortController().signal,
  });
  const { session } = run.localAgent;
  assert.equal((await run.result).stopReason, 'completed');
  const refused = session.events.findLast(({ type }) => type === 'tool/result');
  assert.match(refused.data.message.content[0].content[0].text, /^Error: NOT_ELIGIBLE: /);
  await quiet(loop);
  assert.equal(summaries(loop).length, 0);
  await run.dispose();
});

test('the trace has one line an attempt', async (t) => {
  const loop = await stage(t, {
    config: { debug: true }, steps: { main: [...work('one'), say('x')], summary: [say('no'), accounts()] },
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  await until(() => summaries(loop).length === 1);
  await agent.prompt('and?');
  await landed(agent, 1);
  const path = join(loop.home, 'turn-memory-debug.log');
  const lines = () => (existsSync(path) ? readFileSync(path, 'utf8') : '').trim().split('\n')
    .map((line) => line.replace(/^\S+ session=\S+ /, '')).filter((line) => line.startsWith('turn=1'));
  await until(() => lines().length === 2, 'both lines');
  assert.deepEqual(lines(), ['turn=1 attempt=1 outcome=WORKING_UNTOUCHED', 'turn=1 attempt=2 outcome=LANDED']);
});
