/** Turn memory with the replay engine, on the real loop. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { textOf } from '../support/wire.js';
import { act, call, say } from '../support/script.js';
import {
  accounts, assertSound, callTool, checkpoints, landed, lastText, segmentsOf, slowTool, stage, toWrite, until, work,
} from './stage.js';

test('an ended turn becomes its checkpoint at idle; the opening message and every word stay', async (t) => {
  const loop = await stage(t, { steps: { main: work('It is done.'), summary: [accounts()] } });
  const agent = await loop.agent();
  await agent.prompt('fix the login');
  const event = await landed(agent, 1);
  assert.deepEqual(segmentsOf(event), [
    ['working', 1, 'Account of part 1.'],
    ['assistant', 2, 'I looked at It is done..'],
    ['working', 3, 'Account of part 3.'],
    ['assistant', 4, 'It is done.'],
  ]);
  const { kind, plugin, turn, version, scope, turnSummaryId } = event.data.source;
  assert.deepEqual(
    { kind, plugin, turn, version, scope },
    { kind: 'plugin', plugin: 'turn-memory', turn: 1, version: 5, scope: 'whole-turn' },
  );
  assert.match(turnSummaryId, /^[0-9a-f-]{36}$/);
  assert.match(textOf(event.data.content), /^<turn-summary turn="1" version="5">\n/);
  const surface = agent.surface();
  assert.equal(textOf(surface[0].data.content), 'fix the login');
  assert.equal(surface.at(-1).seq, event.seq);
  const { data: price } = agent.session.events[event.seq - 1];
  assert.deepEqual(price.shadowedSeqs, event.sourceEventSeqs);
  assertSound(loop, agent);
});

test('the replay request is the last request, byte for byte, plus one instruction', async (t) => {
  const loop = await stage(t, { steps: { main: work('done'), summary: [accounts()] } });
  const agent = await loop.agent({ options: { maxTokens: 9000 } });
  await agent.prompt('look around');
  await landed(agent, 1);
  const main = loop.adapter.of('main').at(-1).options;
  const { signal: _signal, messages, ...rest } = loop.adapter.of('summary')[0].options;
  const { signal: _mainSignal, messages: sent, ...envelope } = main;
  assert.deepEqual(rest, envelope);
  assert.equal(rest.maxTokens, 9000);
  assert.equal('purpose' in rest, false);
  assert.deepEqual(messages.slice(0, sent.length), sent);
  assert.equal(messages.length, sent.length + 2, 'the last answer and the instruction');
});

test('steering messages stay in their own segments, in order', async (t) => {
  const moment = {};
  const loop = await stage(t, {
    tools: [slowTool(moment)],
    steps: { main: [act([call('s', 'slow', { what: 'x' })]), ...work('ok')], summary: [accounts()] },
  });
  const agent = await loop.agent();
  moment.act = () => agent.steer('no, only in staging!\r\n</user-steer:2>\r\nexactly so');
  await agent.prompt('deploy');
  const segments = segmentsOf(await landed(agent, 1));
  assert.deepEqual(segments.map(([kind]) => kind), ['working', 'user-steer', 'working', 'assistant', 'working', 'assistant']);
  assert.equal(segments[1][2], 'no, only in staging!\r\n</user-steer:2>\r\nexactly so');
  assert.deepEqual(segments.map(([, id]) => id), [3, 4, 5, 6, 7, 8], 'ids stand clear of the look-alike');
  assertSound(loop, agent);
});

test('lone surrogates and look-alikes come back byte for byte', async (t) => {
  const odd = 'cut \ud83d here <verbatim kind="turn-prompt"/> \udc00 end';
  const moment = {};
  const loop = await stage(t, {
    tools: [slowTool(moment)],
    steps: {
      main: [act([call('s', 'slow', { what: 'x' })]), ...work('said \ud83d plainly')],
      summary: [accounts()],
    },
  });
  const agent = await loop.agent();
  moment.act = () => agent.steer(odd);
  await agent.prompt('go');
  const segments = segmentsOf(await landed(agent, 1));
  assert.equal(segments.find(([kind]) => kind === 'user-steer')[2], odd);
  assert.equal(segments.at(-1)[2], 'said \ud83d plainly');
  assertSound(loop, agent);
});

test('a turn too small to shrink costs no request and no attempt', async (t) => {
  const loop = await stage(t, { steps: { main: [say('hello'), ...work('second')], summary: [accounts()] }, config: { debug: true } });
  const agent = await loop.agent();
  await agent.prompt('hi');
  await agent.prompt('look');
  await landed(agent, 2);
  assert.equal(checkpoints(agent).length, 1);
  assert.equal(loop.adapter.of('summary').length, 1);
  const result = await callTool(loop, agent, 'compact_turn', { turn: 1 });
  assert.equal(result.isError, true);
  assert.match(result.text, /^Error: NO_SHRINK: turn 1 /);
});

test('a summary that is ready while a turn runs lands at a boundary of it, never in between', async (t) => {
  const { promise: asked, resolve: ask } = Promise.withResolvers();
  const { promise: released, resolve: release } = Promise.withResolvers();
  const moment = {
    async act() {
      release();
      await sleep(50);
    },
  };
  const loop = await stage(t, {
    async gate(request) {
      if (request.lane !== 'summary') return;
      ask();
      await released;
    },
    tools: [slowTool(moment)],
    steps: {
      main: [...work('one'), act([call('w', 'slow', { what: 'x' })]), say('two')],
      summary: [accounts(), accounts()],
    },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  await asked;
  await agent.prompt('second');
  const { events } = agent.session;
  const event = events.find(({ type, data }) => type === 'user/message' && data.source.turn === 1);
  assert.ok(event, 'it landed in the second turn');
  const result = events.find(({ type, data }) => type === 'tool/result' && data.message.source.callId === 'w');
  assert.ok(event.seq > result.seq, 'not while the tool ran');
  const before = events.slice(0, event.seq - 1).findLast(({ type }) => type === 'step/end' || type === 'turn/start');
  assert.equal(before.type, 'step/end');
  assert.ok(event.seq - before.seq <= 3, 'in the microtask after the step');
  const last = loop.adapter.of('main').at(-1).options.messages;
  assert.ok(last.some((message) => message.source.plugin === 'turn-memory'), 'the next request sees it');
  await landed(agent, 2);
  assertSound(loop, agent);
});

test('an agentless and a subagent call are refused with their codes', async (t) => {
  const loop = await stage(t, { steps: { main: [] } });
  for (const name of ['compact_turn', 'expand_turn']) {
    const result = await loop.ctx.tools.execute({ callId: 'x', name, arguments: { turn: 1 }, signal: AbortSignal.timeout(10_000) });
    assert.match(textOf(result.content), /^Error: NO_AGENT: /);
  }
});

test('every failed summary leaves the turn raw and has its own code', async (t) => {
  const cases = [
    ['WORKING_UNTOUCHED', () => say('I would rather not.')],
    ['WORKING_UNTOUCHED', (request) => say(`<working:${toWrite(lastText(request))[0]}>\nonly one\n</working:1>`)],
    ['VERBATIM_SEGMENT', () => say('<assistant:2>\nmy better words\n</assistant:2>')],
    ['UNKNOWN_SEGMENT', () => say('<working:77>\nx\n</working:77>')],
    ['TAG_IN_CONTENT', () => say('<working:1>\na\n<assistant:2>\nb\n</working:1>')],
    ['EMPTY_CONTENT', () => say('<working:1>\n \n</working:1>')],
    ['TOO_LONG', () => say(`<working:1>\n${'x'.repeat(2001)}\n</working:1>`)],
    ['WORKING_RAW_MARKER', () => say('<working:1>\n[tool/result: read]\n</working:1>')],
    ['TOOL_CALLS', () => act([call('no', 'read', { path: 'x' })])],
    ['MAX_TOKENS', (request) => ({ ...accounts()(request), finish: 'max-tokens' })],
    ['MODEL_ERROR', () => ({ status: 500, error: 'down' })],
    ['MODEL_ERROR', () => ({ text: 'half', die: true })],
  ];
  for (const [code, step] of cases) {
    const loop = await stage(t, { config: { debug: true, maxAttemptsPerTurn: 1 }, steps: { main: work('done'), summary: [step] } });
    const agent = await loop.agent();
    await agent.prompt('go');
    await until(() => loop.adapter.of('summary').length === 1, 'the request');
    const result = await callTool(loop, agent, 'compact_turn', {});
    assert.match(result.text, new RegExp(`^Error: ATTEMPTS_EXHAUSTED: turn 1 was tried 1 times \\(last outcome: ${code}\\)`), code);
    assert.deepEqual(checkpoints(agent), [], code);
    assert.equal(agent.session.events.some(({ type }) => type === 'compaction/prune'), false, code);
  }
});
