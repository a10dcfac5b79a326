/** When a finished checkpoint lands, when it waits, and what keeps the turn raw. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BasicCompactionEngine } from '@deepseek-ai/dsh-compaction-basic';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import * as rewind from '../../index.js';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import { acquire } from '../../plugin/host/lock.js';
import { act, always, call, say } from '../support/script.js';
import {
  MATCH, accounts, assertSound, callTool, checkpoints, landed, segmentsOf, slowTool, stage, until, work,
} from './stage.js';

/** A gate that holds the requests of one lane until it is opened. */
function gateOf(lane) {
  const { promise: opened, resolve: open } = Promise.withResolvers();
  return { gate: (request) => (request.lane === lane ? opened : undefined), open };
}

/** Replaces the last `count` nodes of a surface by a message, as some other plugin might. */
function replaceTail(session, count, plugin = 'other') {
  const seqs = session.surface.nodes.slice(-count);
  return session.append(
    'user/message',
    createUserMessage({ content: [{ type: 'text', text: 'something else' }], source: { kind: 'plugin', plugin } }),
    { surfaceOp: { op: 'replace', start: seqs[0], end: seqs.at(-1) }, sourceEventSeqs: seqs },
  );
}

/** A scenario whose first turn is being summarized; `open` lets the summary through. */
async function summarizing(t, options = {}) {
  const { gate, open } = gateOf('summary');
  const loop = await stage(t, { gate, steps: { main: work('one'), summary: always(accounts()) }, ...options });
  const agent = await loop.agent();
  await agent.prompt('first');
  await until(() => loop.adapter.of('summary').length > 0, 'the summary request');
  return { loop, agent, open };
}

const outcome = async (loop, agent) => {
  const { text } = await callTool(loop, agent, 'compact_turn', { turn: 1 });
  return /last outcome was (\w+)/.exec(text)?.[1] ?? text;
};

test('a span that changed meanwhile is CHANGED: nothing is written, and the turn can be tried again', async (t) => {
  const { loop, agent, open } = await summarizing(t);
  replaceTail(agent.session, 1);
  const before = agent.session.seq;
  open();
  await sleep(100);
  assert.equal(agent.session.seq, before);
  assert.equal(await outcome(loop, agent), 'CHANGED');
  const segments = segmentsOf(await landed(agent, 1));
  assert.deepEqual(segments.map(([kind]) => kind), ['working', 'assistant', 'working'], 'the last answer was replaced');
  assert.equal(agent.fault(), undefined);
});

test('what is appended behind the turn meanwhile changes nothing', async (t) => {
  const { loop, agent, open } = await summarizing(t);
  loop.script.push('main', say('a second turn'));
  await agent.prompt('second');
  open();
  const event = await landed(agent, 1);
  const texts = agent.surface().map(({ data }) => (data.content ?? data.message.content)[0].text);
  assert.deepEqual(texts, ['first', event.data.content[0].text, 'second', 'a second turn']);
  assertSound(loop, agent);
});

test('an append that the session refuses leaves the turn raw, and the log says why', async (t) => {
  const { loop, agent, open } = await summarizing(t);
  const { session } = agent;
  const append = session.append.bind(session);
  session.append = (type, ...event) => {
    if (event[0].source?.plugin === 'turn-memory') throw Object.assign(new Error('not this one'), { code: 'REFUSED' });
    return append(type, ...event);
  };
  open();
  await until(() => loop.logs().some(({ type, text }) => type === 'error' && /not this one/.test(text)), 'the log');
  delete session.append;
  assert.deepEqual(checkpoints(agent), []);
  assert.equal(await outcome(loop, agent), 'REFUSED');
  await landed(agent, 1);
  assertSound(loop, agent);
});

/** A summary and a manual compaction of the real engine, both under way. */
async function whileCompacting(t, step) {
  const compaction = gateOf('compact');
  const summary = gateOf('summary');
  const { loop, agent } = await summarizing(t, {
    match: { compact: (request) => request.options.purpose === 'compaction', ...MATCH },
    gate: (request) => compaction.gate(request) ?? summary.gate(request),
    before: (ctx) => ctx.plugin(BasicCompactionEngine, { auto: false, retainTokens: 20 }),
    steps: { main: work('one'), summary: always(accounts()), compact: [step] },
  });
  const folded = loop.ctx.compaction.compactNow(agent.agent, new AbortController().signal).catch((error) => error);
  await until(() => loop.adapter.of('compact').length === 1, 'the compaction request');
  summary.open();
  await sleep(100);
  assert.deepEqual(checkpoints(agent), [], 'the summary is ready, and waits');
  compaction.open();
  await folded;
  return { loop, agent };
}

test('a checkpoint that is ready during a session compaction lands at its end', async (t) => {
  const { loop, agent } = await whileCompacting(t, { status: 500, error: 'down' });
  const event = await landed(agent, 1);
  const end = agent.session.events.findLast(({ type }) => type === 'compaction/end');
  assert.ok(event.seq > end.seq && event.seq - end.seq === 2);
  assertSound(loop, agent);
});

test('a turn that a session compaction took meanwhile is left to it', async (t) => {
  const { loop, agent } = await whileCompacting(t, say('What went before.'));
  await sleep(100);
  assert.deepEqual(checkpoints(agent), []);
  assert.equal(agent.surface()[0].data.source.plugin, 'compact');
  assertSound(loop, agent);
  const { text } = await callTool(loop, agent, 'compact_turn', { turn: 1 });
  assert.match(text, /^Error: (NOTHING_TO_COMPACT|NO_SHRINK): /);
});

test('while another writer holds the session, the landing waits for the next boundary', async (t) => {
  const { loop, agent, open } = await summarizing(t);
  const release = acquire(agent.session, 'rewind');
  open();
  await sleep(100);
  assert.deepEqual(checkpoints(agent), []);
  release();
  await sleep(50);
  assert.deepEqual(checkpoints(agent), [], 'a released lock is no boundary');
  loop.script.push('main', say('hello'));
  await agent.prompt('hi');
  const event = await landed(agent, 1);
  const start = agent.session.events.findLast(({ type }) => type === 'turn/start');
  assert.ok(event.seq > start.seq && event.seq - start.seq <= 4, 'at the turn/start');
  assert.equal(loop.adapter.of('main').at(-1).options.messages.length, 3, 'its request saw the checkpoint already');
  assertSound(loop, agent);
});

test('the carrier of an unfolded mark holds its turn until another turn has ended', async (t) => {
  const loop = await stage(t, {
    plugins: [[rewind, {}], [checkpoint, {}]],
    steps: {
      main: [act([call('cp', 'checkpoint', { objective: 'look' })]), ...work('one'), say('not folding'), say('third')],
      summary: always(accounts()),
    },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  await until(() => loop.adapter.of('summary').length === 1, 'the summary');
  await sleep(100);
  assert.deepEqual(checkpoints(agent), [], 'the mark is unfolded and its turn is the last');
  await agent.prompt('second');
  const event = await landed(agent, 1);
  const end = agent.session.events.findLast(({ type, seq }) => type === 'turn/end' && seq < event.seq);
  assert.equal(end.data.turn, 2);
  assertSound(loop, agent);
});

test('a mark that is folded in a later turn releases its turn, whose span is then another', async (t) => {
  const loop = await stage(t, {
    plugins: [[rewind, {}], [checkpoint, {}]],
    steps: {
      main: [
        act([call('cp', 'checkpoint', { objective: 'look' })]), ...work('one'), say('warned, but not folding yet'),
        act([call('rw', 'rewind')]), say('folded'),
      ],
      report: [say('Nothing of note in one.a.')],
      summary: always(accounts()),
    },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  await until(() => loop.adapter.of('summary').length === 1, 'the summary');
  await sleep(50);
  await agent.prompt('second');
  const event = await landed(agent, 1);
  assert.deepEqual(loop.rejected, []);
  assert.ok(loop.adapter.of('summary').length >= 2, 'the first draft was CHANGED by the fold');
  assert.match(segmentsOf(event).map(([, , text]) => text).join('\n'), /Account of part|Nothing of note/);
  assertSound(loop, agent);
});

test('a round that takes too long is cut, whatever the provider does', async (t) => {
  const loop = await stage(t, {
    config: { roundTimeoutMs: 1000, maxAttemptsPerTurn: 1 },
    steps: { main: work('one'), summary: [{ text: 'thinking', hang: true }, accounts()] },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  await until(() => loop.adapter.of('summary').length === 1, 'the summary');
  await sleep(1200);
  const [{ options }] = loop.adapter.of('summary');
  assert.equal(options.signal.aborted, true, 'the provider is told');
  assert.equal(await outcome(loop, agent), 'TIMEOUT');
  await landed(agent, 1);
});

test('disposing the agent or the plugin in mid-summary leaves the turn raw and no file behind', async (t) => {
  for (const what of ['agent', 'plugin']) {
    const { gate, open } = gateOf('summary');
    const loop = await stage(t, { gate, steps: { main: work('one'), summary: always(accounts()) } });
    const agent = await loop.agent();
    await agent.prompt('first');
    await until(() => loop.adapter.of('summary').length === 1, 'the summary');
    const [{ options }] = loop.adapter.of('summary');
    if (what === 'agent') await agent.dispose();
    else await loop.unmountTurnMemory();
    const before = agent.session.seq;
    assert.equal(options.signal.aborted, true, what);
    open();
    await sleep(100);
    assert.equal(agent.session.seq, before, what);
    assert.equal(existsSync(loop.home) ? readdirSync(loop.home).length : 0, 0, what);
  }
});

test('what the plugin registered goes with it', async (t) => {
  const loop = await stage(t);
  assert.ok(loop.ctx.tools.get('expand_turn') && loop.ctx.tools.get('compact_turn'));
  assert.equal((await loop.ctx.skills.list()).length, 3);
  await loop.unmountTurnMemory();
  assert.equal(loop.ctx.tools.get('expand_turn') ?? loop.ctx.tools.get('compact_turn'), undefined);
  assert.deepEqual(await loop.ctx.skills.list(), []);
});

test('a landing never falls into the pre-step waterfall, and the runtime context is sent again', async (t) => {
  const { gate, open } = gateOf('summary');
  const moment = { act: () => sleep(30) };
  const loop = await stage(t, {
    gate,
    tools: [slowTool(moment)],
    before: (ctx) => {
      ctx.systemPrompt.context({ name: 'weather', order: 1, text: 'It rains.' });
      // A listener that stays in the waterfall while the summary comes in.
      ctx.on('agent/pre-step', async (payload, next) => {
        if (payload.turn === 2 && payload.step === 1) {
          open();
          await sleep(100);
        }
        return next();
      });
    },
    steps: {
      main: [...work('one'), act([call('s', 'slow', { what: 'x' })]), say('two')], summary: always(accounts()),
    },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  await until(() => loop.adapter.of('summary').length === 1, 'the summary');
  await agent.prompt('second');
  const event = await landed(agent, 1);
  const { events } = agent.session;
  const boundary = events.slice(0, event.seq).findLast(({ type }) => ['turn/start', 'step/start', 'step/end'].includes(type));
  assert.equal(boundary.type, 'step/end', 'not before the first step of the second turn');
  for (const { options } of loop.adapter.of('main')) {
    const seen = options.messages.filter(({ content }) => content[0].text?.includes('It rains.'));
    assert.equal(seen.length, 1, 'every request shows the runtime context once');
  }
  assertSound(loop, agent);
});
