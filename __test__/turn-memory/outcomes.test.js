/** Outcomes that need an odd session or a helpless host: each has its code, and the turn stays raw. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { act, always, call, say } from '../support/script.js';
import { textOf } from '../support/wire.js';
import { accounts, assertSound, checkpoints, landed, slowTool, stage, until, work } from './stage.js';

const MANUAL = { maxAttemptsPerTurn: 1 };
const asked = (loop) => loop.adapter.of('summary');

/** An ended turn whose first attempt failed, so that it stands raw. */
async function raw(t, { config = {}, ...options } = {}) {
  const loop = await stage(t, {
    config: { ...MANUAL, ...config }, invariants: false,
    steps: { main: work('one'), summary: [say('no'), accounts()] }, ...options,
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  await until(() => asked(loop).length > 0, 'the attempt');
  await sleep(30);
  assert.deepEqual(checkpoints(agent), []);
  return { loop, agent };
}

/** Calls a tool through the registry without a turn: these sessions could send no request. */
async function direct(loop, agent, name, args, signal = new AbortController().signal) {
  const { content } = await loop.ctx.tools.execute({ callId: 'x', name, arguments: args, agent: agent.agent, signal });
  return textOf(content);
}

const compact = (loop, agent, turn = 1) => direct(loop, agent, 'compact_turn', { turn });

/** Replaces surface nodes by a message of somebody else. */
function replace(session, first, last, plugin, more = {}) {
  const seqs = session.surface.nodes.slice(first, last + 1);
  const source = { kind: 'plugin', plugin, ...more };
  const message = createUserMessage({ content: [{ type: 'text', text: 'something' }], source });
  session.append('user/message', message, {
    surfaceOp: { op: 'replace', start: seqs[0], end: seqs.at(-1) }, sourceEventSeqs: seqs,
  });
}

test('a session compaction in the middle of a turn keeps it raw: NON_CONTIGUOUS', async (t) => {
  const { loop, agent } = await raw(t);
  replace(agent.session, 3, 4, 'compact');
  assert.match(await compact(loop, agent), /^Error: NON_CONTIGUOUS: .*of turn 1 .*stays raw/);
});

test('a turn that lost a result or a call on the surface is unbalanced, by name', async (t) => {
  const { loop, agent } = await raw(t);
  replace(agent.session, 2, 2, 'other');
  assert.match(await compact(loop, agent), /^Error: UNBALANCED_OPEN: a call of the tool read has no result in its turn; the turn stays raw/);
  const second = await raw(t);
  replace(second.agent.session, 1, 1, 'other');
  assert.match(await compact(second.loop, second.agent), /^Error: UNBALANCED_ORPHAN: .*stays raw/);
});

test('checkpoints of the formats 4 to 6 count, those of a later one do not', async (t) => {
  for (const [version, expected] of [
    [4, /^Error: ALREADY_REPLACED: /], [5, /^Error: ALREADY_REPLACED: /], [6, /^Error: ALREADY_REPLACED: /],
    [7, /^Error: (EMPTY|NOTHING_TO_COMPACT|NON_CONTIGUOUS): /],
  ]) {
    const { loop, agent } = await raw(t);
    replace(agent.session, 1, 5, 'turn-memory', { turn: 1, turnSummaryId: 'x', version, scope: 'whole-turn' });
    assert.match(await compact(loop, agent), expected, String(version));
  }
});

test('while a compaction holds the session, compact_turn says so and starts nothing', async (t) => {
  const moment = { act: () => undefined };
  const { loop, agent } = await raw(t, { tools: [slowTool(moment)] });
  const { session } = agent;
  loop.script.push('main', act([call('s', 'slow', { what: 'x' })]), act([call('c', 'compact_turn', { turn: 1 })]), say('I see.'));
  moment.act = () => session.append('compaction/start', { turn: 2, reason: 'pressure' });
  await agent.prompt('go on');
  const { text, error } = agent.results().find(({ callId }) => callId === 'c');
  assert.match(text, /^Error: COMPACTION_BUSY: /);
  assert.equal(error.code, 'COMPACTION_BUSY');
  assert.equal(asked(loop).length, 1);
});

test('a conversation that no provider would take before the turn is no prefix: PREFIX_FAULT', async (t) => {
  const { loop, agent } = await raw(t, { steps: { main: [...work('one'), ...work('two')], summary: always(say('no')) } });
  await agent.prompt('second');
  await until(() => asked(loop).length === 2, 'the second attempt');
  // A result of the first turn goes: its call stands unanswered in front of the second turn.
  replace(agent.session, 2, 2, 'other');
  assert.match(await compact(loop, agent, 2), /^started: turn 2 /);
  await sleep(50);
  assert.equal(asked(loop).length, 2, 'nothing was sent');
  assert.match(await compact(loop, agent, 2), /Its last outcome was PREFIX_FAULT\./);
  assert.deepEqual(checkpoints(agent), []);
});

test('a cancelled recall is ABORTED', async (t) => {
  const { loop, agent } = await raw(t, {
    config: { recallRecentWindowMs: 0 },
    steps: { main: work('one'), summary: [say('no')], question: [{ text: 'slowly', hang: true }] },
  });
  const stop = new AbortController();
  const running = direct(loop, agent, 'expand_turn', { turn: 1, question: 'q' }, stop.signal);
  await until(() => loop.adapter.of('question').length === 1, 'the question');
  stop.abort(new Error('enough'));
  const said = await running.catch((error) => `threw ${error.message}`);
  assert.equal(said, 'Error: ABORTED: the recall was cancelled.');
  await until(() => loop.ctx.agents.list().length === 1, 'the child is gone');
});

test('what idleness queued waits for the next idleness once a new turn runs', async (t) => {
  const gate = Promise.withResolvers();
  const moment = { act: () => undefined };
  const loop = await stage(t, {
    gate: ({ lane }) => (lane === 'summary' && asked(loop).length === 2 ? gate.promise : undefined),
    tools: [slowTool(moment)],
    steps: {
      main: [...work('one'), ...work('two'), act([call('s', 'slow', { what: 'x' })]), say('three')],
      summary: [say('no'), accounts(), accounts(), accounts()],
    },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  await until(() => asked(loop).length === 1, 'the first attempt');
  await agent.prompt('second');
  await until(() => asked(loop).length === 2, 'the second turn, which is tried first');
  moment.act = async () => {
    gate.resolve();
    await sleep(100);
    moment.asked = asked(loop).length;
  };
  await agent.prompt('third');
  assert.equal(moment.asked, 2, 'the first turn is not tried while the third runs');
  await landed(agent, 1);
  assertSound(loop, agent);
});

test('every landing is flushed', async (t) => {
  const loop = await stage(t, { steps: { main: [...work('one'), ...work('two')], summary: always(accounts()) } });
  const { sessions } = loop.ctx;
  const flushed = [];
  const { flush } = Object.getPrototypeOf(sessions);
  sessions.flush = (session) => {
    flushed.push(session.events.findLast(({ data }) => data?.source?.plugin === 'turn-memory')?.data.source.turn);
    return Reflect.apply(flush, sessions, [session]);
  };
  const agent = await loop.agent();
  await agent.prompt('first');
  await landed(agent, 1);
  await agent.prompt('second');
  await landed(agent, 2);
  assert.deepEqual(flushed.filter((turn) => turn !== undefined).filter((turn, at, all) => turn !== all[at - 1]), [1, 2]);
  assertSound(loop, agent);
});

for (const engine of ['replay', 'fork']) {
  test(`a parent that is cancelled in a later turn loses nothing of a summary under way (${engine})`, async (t) => {
    const gate = Promise.withResolvers();
    const moment = { act: () => undefined };
    const write = (id) => call(`w${id}`, 'draft_replace_segment', { id, content: `Account of part ${id}.` });
    const loop = await stage(t, {
      config: { summaryEngine: engine },
      gate: ({ lane }) => (['summary', 'worker'].includes(lane) ? gate.promise : undefined),
      tools: [slowTool(moment)],
      steps: {
        main: [...work('one'), act([call('s', 'slow', { what: 'x' })])],
        summary: always(accounts()),
        worker: [act([write(1), write(3)]), say('DONE'), ...Array.from({ length: 20 }, () => say('DONE'))],
      },
    });
    const agent = await loop.agent();
    await agent.prompt('first');
    await until(() => loop.adapter.of('summary').length + loop.adapter.of('worker').length === 1, 'the summary');
    moment.act = () => agent.agent.cancel({ kind: 'user' });
    const { reason } = await agent.prompt('second');
    assert.equal(reason.kind, 'aborted');
    gate.resolve();
    await landed(agent, 1);
    assertSound(loop, agent);
  });
}
