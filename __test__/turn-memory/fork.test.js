/** The fork engine on the real loop, with the real subagent runtime and its in-process providers. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { act, always, call, say } from '../support/script.js';
import { textOf } from '../support/wire.js';
import {
  assertSound, callTool, checkpoints, landed, segmentsOf, slowTool, stage, toWrite, until, work,
} from './stage.js';

const ENGINE = { summaryEngine: 'fork', maxAttemptsPerTurn: 1 };

/** The instruction of a worker's round, wherever its runtime context stands. */
function instructionIn({ options }) {
  const texts = options.messages.map(({ content }) => textOf(content));
  return texts.findLast((text) => text.startsWith('[turn memory] The process of turn')) ?? '';
}

const write = (id, content) => call(`w${id}`, 'draft_replace_segment', { id, content });

/** A worker that writes every part it is asked for, then says DONE. */
function diligent() {
  return (request) => {
    const last = request.options.messages.at(-1);
    if (last.content.some(({ type }) => type === 'tool-result')) return say('DONE');
    return act(toWrite(instructionIn(request)).map((id) => write(id, `Account of part ${id}.`)));
  };
}

/** The results that a worker's request shows, newest message first. */
function shown({ options }) {
  return options.messages.flatMap(({ content }) => content).filter(({ type }) => type === 'tool-result')
    .map(({ toolCallId, isError, content }) => ({ id: toolCallId, failed: isError === true, text: textOf(content) }));
}

const workers = (loop) => loop.adapter.of('worker');

/** How a failed attempt is remembered; asking starts the turn over. */
async function outcome(loop, agent) {
  const { text } = await callTool(loop, agent, 'compact_turn', { turn: 1 });
  return /last outcome was (\w+)/.exec(text)?.[1] ?? text;
}

async function attempted(loop, agent) {
  await until(() => workers(loop).length > 0, 'the worker');
  await until(() => loop.ctx.agents.list().length === 1, 'the worker is gone');
  await sleep(20);
  assert.deepEqual(checkpoints(agent), []);
}

test('a forked worker fills the draft through tools of its own, and the checkpoint lands', async (t) => {
  const workspace = mkdtempSync(join(tmpdir(), 'turn-memory-cwd-'));
  t.after(() => rmSync(workspace, { recursive: true, force: true }));
  const loop = await stage(t, { config: ENGINE, steps: { main: work('one'), worker: always(diligent()) } });
  const agent = await loop.agent({ meta: { cwd: workspace } });
  await agent.prompt('first');
  assert.deepEqual(segmentsOf(await landed(agent, 1)), [
    ['working', 1, 'Account of part 1.'],
    ['assistant', 2, 'I looked at one.'],
    ['working', 3, 'Account of part 3.'],
    ['assistant', 4, 'one'],
  ]);
  const [first] = workers(loop);
  const seen = first.options.messages.map(({ content }) => textOf(content));
  assert.equal(seen[0], 'first', 'it sees the turn word for word');
  assert.ok(seen.includes('I looked at one.'));
  const names = (request) => (request.options.tools ?? []).map(({ name }) => name);
  const drafts = ['draft_grep', 'draft_read_segment', 'draft_replace_segment'];
  assert.deepEqual(names(first).filter((name) => name.startsWith('draft_')).toSorted(), drafts);
  for (const request of loop.adapter.of('main')) {
    assert.deepEqual(names(request).filter((name) => name.startsWith('draft_')), [], 'nobody else sees them');
  }
  assert.deepEqual(names(first).filter((name) => !name.startsWith('draft_')), names(loop.adapter.of('main')[0]), 'the tool list stays');
  assert.equal(first.options.system, loop.adapter.of('main')[0].options.system);
  await until(() => loop.ctx.agents.list().length === 1, 'the worker is disposed');
  assert.deepEqual(readdirSync(workspace), [], 'no files in the workspace');
  assertSound(loop, agent);
});

test('tricky 17: a round that is cut in the middle is followed by one that asks only for the rest', async (t) => {
  const loop = await stage(t, {
    config: { ...ENGINE, roundTimeoutMs: 1000 },
    steps: {
      main: [
        act([call('a', 'read', { path: 'a' })], { text: 'first' }), act([call('b', 'read', { path: 'b' })], { text: 'second' }),
        act([call('c', 'read', { path: 'c' })], { text: 'third' }), say('done'),
      ],
      worker: [act([write(2, 'Read a.'), write(4, 'Read b.')]), { text: 'thinking', hang: true }, act([write(6, 'Read c.')]), say('DONE')],
    },
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  const segments = segmentsOf(await landed(agent, 1));
  assert.deepEqual(segments.filter(([kind]) => kind === 'working').map(([, id, text]) => [id, text]), [
    [2, 'Read a.'], [4, 'Read b.'], [6, 'Read c.'],
  ]);
  const instructions = workers(loop).map(instructionIn);
  assert.deepEqual(toWrite(instructions[0]), [2, 4, 6]);
  assert.deepEqual(toWrite(instructions[2]), [6]);
  assert.match(instructions[2], /<working:2> finished\n/);
  assertSound(loop, agent);
});

test('every misuse of the draft tools is told to the worker, and the draft can still be finished', async (t) => {
  const bad = [
    ['VERBATIM_SEGMENT', 'draft_replace_segment', { id: 2, content: 'my better words' }],
    ['UNKNOWN_SEGMENT', 'draft_replace_segment', { id: 99, content: 'x' }],
    ['UNKNOWN_SEGMENT', 'draft_replace_segment', { id: -1, content: 'x' }],
    ['TAG_IN_CONTENT', 'draft_replace_segment', { id: 1, content: 'a\n<assistant:9>\nb' }],
    ['EMPTY_CONTENT', 'draft_replace_segment', { id: 1, content: ' \n ' }],
    ['TOO_LONG', 'draft_replace_segment', { id: 1, content: 'x'.repeat(2001) }],
    ['WORKING_RAW_MARKER', 'draft_replace_segment', { id: 1, content: '[tool/result: read]\nx' }],
    ['DRAFT_PATH', 'draft_replace_segment', { path: '/etc/passwd', id: 1, content: 'x' }],
    ['DRAFT_PATH', 'draft_read_segment', { path: '../.dsh-turn-summary-other-turn-1.md', id: 1 }],
    ['UNKNOWN_SEGMENT', 'draft_read_segment', { id: 7 }],
    ['BAD_PATTERN', 'draft_grep', { pattern: '(' }],
  ];
  const session = 'session-of-the-draft';
  const good = [
    call('good-read', 'draft_read_segment', { path: `/anywhere/.dsh-turn-summary-${session}-turn-1.md`, id: 2 }),
    call('good-grep', 'draft_grep', { pattern: 'looked|tool call' }),
    call('good-none', 'draft_grep', { pattern: 'no such thing' }),
    call('other-read', 'read', { path: 'x' }),
    call('other-bash', 'bash', { command: 'rm -rf .' }),
    call('other-turn', 'expand_turn', { turn: 1, mode: 'raw' }),
  ];
  const loop = await stage(t, {
    config: ENGINE,
    steps: {
      main: work('one'),
      worker: [
        act([...bad.map(([, name, args], index) => call(`bad-${index}`, name, args)), ...good]),
        act([write(1, 'first try'), write(1, 'Read one.a.'), write(3, 'Tested one.')]),
        say('DONE'),
      ],
    },
  });
  const agent = await loop.agent({ id: session });
  await agent.prompt('first');
  const segments = segmentsOf(await landed(agent, 1));
  assert.deepEqual(segments.map(([, , text]) => text), ['Read one.a.', 'I looked at one.', 'Tested one.', 'one']);
  const results = shown(workers(loop)[1]);
  for (const [index, [code]] of bad.entries()) {
    const { failed, text } = results.find(({ id }) => id === `bad-${index}`);
    assert.equal(failed, true, code);
    assert.match(text, new RegExp(`^Error: ${code}: `), code);
  }
  const said = Object.fromEntries(results.map(({ id, text }) => [id, text]));
  assert.equal(said['good-read'], 'I looked at one.');
  assert.match(said['good-grep'], /^<seg working:1>\n {2}3: \[tool call: read\] .*\n<seg assistant:2>\n {2}1: I looked at one\.\n/);
  assert.equal(said['good-none'], 'no matches');
  for (const id of ['other-read', 'other-bash', 'other-turn']) {
    assert.match(said[id], /only draft_replace_segment, draft_read_segment, draft_grep are allowed/);
  }
  assert.equal(shown(workers(loop)[2]).find(({ id }) => id === 'w1').text, 'segment 1 (working) replaced');
  assertSound(loop, agent);
});

test('a worker that asks for other tools may go on, and a complete draft lands although it never says DONE', async (t) => {
  const loop = await stage(t, {
    config: { ...ENGINE, roundTimeoutMs: 1000 },
    steps: {
      main: work('one'),
      worker: [act([call('x', 'read', { path: 'a' })]), act([write(1, 'One.'), write(3, 'Two.')]), { text: 'hm', hang: true }],
    },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  assert.deepEqual(segmentsOf(await landed(agent, 1)).map(([, , text]) => text), ['One.', 'I looked at one.', 'Two.', 'one']);
  assertSound(loop, agent);
});

test('what a worker fails in has its code, and the turn stays raw', async (t) => {
  const cases = [
    ['WORKING_UNTOUCHED', [say('DONE')]],
    ['WORKING_UNTOUCHED', [say('')]],
    ['MODEL_ERROR', [{ status: 500, error: 'down' }]],
    ['MODEL_ERROR', [{ garbage: 'x' }]],
    ['MAX_TOKENS', [{ text: 'half', finish: 'max-tokens' }]],
    ['TIMEOUT', [{ text: 'thinking', hang: true }]],
  ];
  for (const [code, steps] of cases) {
    const loop = await stage(t, { config: { ...ENGINE, roundTimeoutMs: 1000 }, steps: { main: work('one'), worker: steps } });
    const agent = await loop.agent();
    await agent.prompt('first');
    await attempted(loop, agent);
    assert.equal(workers(loop).length, 1, `${code}: a round without progress is the last`);
    assert.equal(await outcome(loop, agent), code);
  }
});

test('without the fork provider, or without subagents at all, the attempt fails by name', async (t) => {
  for (const providers of [['spawn'], []]) {
    const loop = await stage(t, { config: ENGINE, providers, steps: { main: work('one') } });
    const agent = await loop.agent();
    await agent.prompt('first');
    await sleep(50);
    assert.equal(await outcome(loop, agent), 'WORKER_START_FAILED');
    assert.equal(agent.fault(), undefined);
  }
});

test('rounds are bounded even where each makes a little progress', async (t) => {
  const loop = await stage(t, {
    config: { ...ENGINE, maxRounds: 2 },
    steps: {
      main: [
        act([call('a', 'read', { path: 'a' })], { text: 'first' }), act([call('b', 'read', { path: 'b' })], { text: 'second' }),
        act([call('c', 'read', { path: 'c' })], { text: 'third' }), say('done'),
      ],
      worker: [act([write(2, 'Read a.')]), say('DONE'), act([write(4, 'Read b.')]), say('DONE')],
    },
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  await until(() => workers(loop).length === 4, 'both rounds');
  await sleep(50);
  assert.deepEqual(checkpoints(agent), []);
  assert.equal(await outcome(loop, agent), 'WORKING_UNTOUCHED');
});

test('calls after a round has ended are refused', async (t) => {
  const { promise: cut, resolve } = Promise.withResolvers();
  const loop = await stage(t, {
    config: { ...ENGINE, roundTimeoutMs: 1000 },
    steps: {
      main: work('one'),
      // The provider does not listen to the abort and answers after the deadline.
      worker: [async () => {
        await sleep(1500);
        resolve();
        return act([write(1, 'late'), write(3, 'late')]);
      }],
    },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  await cut;
  await sleep(100);
  assert.deepEqual(checkpoints(agent), []);
  assert.equal(await outcome(loop, agent), 'TIMEOUT');
});

test('a parent that is disposed in mid-round takes its worker with it', async (t) => {
  const loop = await stage(t, { config: ENGINE, steps: { main: work('one'), worker: [{ text: 'thinking', hang: true }] } });
  const agent = await loop.agent();
  await agent.prompt('first');
  await until(() => workers(loop).length === 1, 'the worker');
  const before = agent.session.seq;
  await agent.dispose();
  await until(() => loop.ctx.agents.list().length === 0, 'the worker is gone');
  assert.equal(workers(loop)[0].options.signal.aborted, true);
  assert.equal(agent.session.seq, before);
});

test('a parent that works on while its turn is summarized is not disturbed', async (t) => {
  const { promise: released, resolve: release } = Promise.withResolvers();
  const moment = { act: release };
  const loop = await stage(t, {
    config: ENGINE,
    gate: (request) => (request.lane === 'worker' ? released : undefined),
    tools: [slowTool(moment)],
    steps: {
      main: [...work('one'), act([call('s', 'slow', { what: 'x' })]), say('two')], worker: always(diligent()),
    },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  await until(() => workers(loop).length === 1, 'the worker');
  const { reason, text } = await agent.prompt('second');
  assert.deepEqual([reason.kind, text], ['completed', 'two']);
  await landed(agent, 1);
  await landed(agent, 2);
  assertSound(loop, agent);
});
