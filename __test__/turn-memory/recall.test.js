/** `expand_turn` on the real loop: raw from the log, answers by a fork, by the cheap model, by a direct call. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { act, call, say } from '../support/script.js';
import { textOf } from '../support/wire.js';
import {
  LONG, accounts, assertSound, callTool, landed, questionIn, slowTool, stage, until, work,
} from './stage.js';

/** A session with two ended turns, the checkpoint of the first one standing, that of the second as well. */
async function twoTurns(t, { steps = {}, ...options } = {}) {
  const loop = await stage(t, {
    steps: { main: [...work('one'), ...work('two')], summary: [accounts(), accounts()], ...steps },
    ...options,
  });
  // Further turns of a scenario are about recall; their summaries fail and leave them raw.
  loop.script.push('summary', ...Array.from({ length: 20 }, () => say('no')));
  const agent = await loop.agent();
  await agent.prompt('the first task');
  await landed(agent, 1);
  await agent.prompt('the second task');
  await landed(agent, 2);
  return { loop, agent };
}

const expand = (loop, agent, args) => callTool(loop, agent, 'expand_turn', args);

test('raw tells a replaced turn as it was, from the log, each event once and in order', async (t) => {
  const { loop, agent } = await twoTurns(t);
  const { text, isError } = await expand(loop, agent, { turn: 1, mode: 'raw' });
  assert.equal(isError, false);
  assert.equal(text, [
    '### User\nthe first task',
    '### Assistant reasoning\nlet me look',
    '### Tool call: read\nargs: {"path":"one.a"}',
    `### Tool result\n${LONG}`,
    '### Assistant\nI looked at one.',
    '### Tool call: bash\nargs: {"command":"test one"}',
    `### Tool result\n${LONG}`,
    '### Assistant\none',
  ].join('\n\n'));
  assert.doesNotMatch(text, /turn-summary/);
  assertSound(loop, agent);
});

test('raw keeps its caps, head and tail, and says what it left out', async (t) => {
  const { loop, agent } = await twoTurns(t, { config: { maxRawChars: 1000, toolResultCapChars: 50 } });
  const { text } = await expand(loop, agent, { turn: 2, mode: 'raw' });
  assert.match(text, /^### User\nthe second task/);
  assert.match(text, / \.\.\. \[truncated, 2340 chars total\] \.\.\. /);
  assert.match(text, /### Assistant\ntwo$/);
  const narrow = await twoTurns(t, { config: { maxRawChars: 1000 } });
  const cut = await expand(narrow.loop, narrow.agent, { turn: 2, mode: 'raw' });
  assert.match(cut.text, /^### User\nthe second task/);
  assert.match(cut.text, /### Assistant\ntwo\n\n\[\d of 6 events left out, others cut; \d+ chars in all\]$/);
});

test('an open turn is told to the tail of the log, with a note', async (t) => {
  const { loop, agent } = await twoTurns(t);
  const { text } = await expand(loop, agent, { turn: 3, mode: 'raw' });
  assert.match(text, /^\[turn 3 is still open: this is its record so far\]\n\n### User\ngo on\n\n### Tool call: expand_turn\n/);
});

test('bad arguments have their codes', async (t) => {
  const { loop, agent } = await twoTurns(t);
  const refused = async (args, pattern) => {
    const { text, isError, error } = await expand(loop, agent, args);
    assert.equal(isError, true);
    assert.match(text, pattern);
    assert.match(text, new RegExp(`^Error: ${error.code}: `));
  };
  await refused({ turn: 99, mode: 'raw' }, /^Error: TURN_NOT_FOUND: there is no turn 99 .*go up to \d+/);
  await refused({ turn: 0, mode: 'raw' }, /^Error: TURN_NOT_FOUND: /);
  await refused({ turn: -4, question: 'what?' }, /^Error: TURN_NOT_FOUND: /);
  await refused({ turn: 1, mode: 'cooked' }, /^Error: BAD_MODE: there is no mode "cooked"/);
  await refused({ turn: 1 }, /^Error: QUESTION_REQUIRED: /);
  await refused({ turn: 1, question: ' \n ' }, /^Error: QUESTION_REQUIRED: /);
});

test('a raw call may run beside others, an agentic one may not', async (t) => {
  const { loop } = await twoTurns(t);
  const mode = (args) => loop.ctx.tools.executionMode({ callId: 'x', name: 'expand_turn', arguments: args }).kind;
  assert.equal(mode({ turn: 1, mode: 'raw' }), 'parallel');
  assert.equal(mode({ turn: 1, question: 'why?' }), 'exclusive');
});

test('the newest turn is answered by a fork that still sees it, and that can change nothing', async (t) => {
  const { loop, agent } = await twoTurns(t, {
    steps: {
      question: [
        act([
          call('b', 'bash', { command: 'rm -rf .' }), call('r', 'read', { path: 'two.a' }),
          call('e', 'expand_turn', { turn: 2, mode: 'raw' }), call('q', 'expand_turn', { turn: 2, question: 'x' }),
        ]),
      ],
    },
  });
  loop.script.push('question', (request) => {
    const results = request.options.messages.at(-4).content.concat(...request.options.messages.slice(-3).map((m) => m.content));
    const [bash, read, raw, agentic] = results.map((block) => ({ text: textOf(block.content), failed: block.isError }));
    assert.match(bash.text, /only read, glob, grep, web_search, web_fetch and raw recall are allowed/);
    assert.equal(read.text, LONG);
    assert.match(raw.text, /^### User\nthe second task/);
    assert.match(agentic.text, /only read, glob/);
    assert.ok(bash.failed && !read.failed && !raw.failed && agentic.failed);
    return say('It read two.a.');
  });
  const { text, isError } = await expand(loop, agent, { turn: 2, question: '  what was read?  ' });
  assert.deepEqual([text, isError], ['It read two.a.', false]);
  const [asked] = loop.adapter.of('question');
  assert.match(questionIn(asked), /^\[turn memory\] Answer one question about turn 2 .*begins with the message "the second task"/s);
  assert.match(questionIn(asked), /\n\nQuestion: what was read\?$/);
  const seen = asked.options.messages.map(({ content }) => textOf(content)).join('\n');
  assert.match(seen, /I looked at two\./);
  assert.match(seen, /<turn-summary turn="1"/, 'the older turn is a checkpoint in the fork');
  assert.doesNotMatch(seen, /<turn-summary turn="2"/);
  assertSound(loop, agent);
});

test('an older turn, and any turn where the window is 0, is answered from its record by the cheap model', async (t) => {
  const { loop, agent } = await twoTurns(t, {
    config: { cheapProvider: 'scripted', cheapModel: 'cheap-1', cheapMaxTokens: 777 },
    steps: { question: [say('From the record.'), say('Again.')] },
  });
  const { text } = await expand(loop, agent, { turn: 1, question: 'what was read?' });
  assert.equal(text, 'From the record.');
  const [{ options }] = loop.adapter.of('question');
  assert.deepEqual(
    [options.provider, options.model, options.maxTokens, options.tools ?? []],
    ['scripted', 'cheap-1', 777, []],
  );
  const prompt = questionIn({ options });
  assert.match(prompt, /----- record of turn 1 -----\n### User\nthe first task\n\n### Assistant reasoning\nlet me look/);
  assert.match(prompt, /### Assistant\none\n----- end of the record -----\n\nQuestion: what was read\?$/);

  const off = await twoTurns(t, { config: { recallRecentWindowMs: 0 }, steps: { question: [say('No fork.')] } });
  assert.equal((await expand(off.loop, off.agent, { turn: 2, question: 'q' })).text, 'No fork.');
  assert.match(questionIn(off.loop.adapter.of('question')[0]), /record of turn 2/);
});

test('a missing provider is stood in for: spawn for fork, a direct request for spawn', async (t) => {
  for (const providers of [['spawn'], ['fork'], []]) {
    const { loop, agent } = await twoTurns(t, { providers, steps: { question: [say('Answered.')] } });
    const turn = providers.includes('fork') ? 1 : 2;
    const { text, isError } = await expand(loop, agent, { turn, question: 'q' });
    assert.deepEqual([text, isError], ['Answered.', false], providers.join());
    const [{ options }] = loop.adapter.of('question');
    assert.match(questionIn({ options }), /Question: q$/);
    const direct = !providers.includes('spawn');
    assert.equal(options.messages.length === 1 && options.system === undefined, direct, providers.join());
  }
});

test('a record too long for the cheap model keeps its head and its tail', async (t) => {
  const { loop, agent } = await twoTurns(t, {
    model: { context: { contextWindow: 5000 } },
    config: { cheapProvider: 'scripted', cheapModel: 'cheap-1', cheapMaxTokens: 500, recallRecentWindowMs: 0 },
    steps: { question: [say('Short.')] },
  });
  await expand(loop, agent, { turn: 1, question: 'q' });
  const prompt = questionIn(loop.adapter.of('question')[0]);
  assert.match(prompt, /record of turn 1 -----\n### User\nthe first task/);
  assert.match(prompt, / \.\.\. \[truncated, \d+ chars total\] \.\.\. /);
  assert.match(prompt, /### Assistant\none\n----- end/);
  assert.ok(prompt.length < 2500, `${prompt.length}`);
});

test('an answer that does not come has its code', async (t) => {
  const cases = [
    ['RECALL_EMPTY', say('  ')],
    ['RECALL_STOPPED', { text: 'half', finish: 'max-tokens' }],
    ['RECALL_STOPPED', { status: 500, error: 'down' }],
    ['RECALL_TIMEOUT', { text: 'thinking', hang: true }],
  ];
  for (const providers of [['fork', 'spawn'], ['fork'], []]) {
    const { loop, agent } = await twoTurns(t, { providers, config: { recallTimeoutMs: 1000 } });
    for (const [code, step] of cases) {
      loop.script.push('question', step);
      const { text, isError } = await expand(loop, agent, { turn: 1, question: 'q' });
      assert.equal(isError, true, `${providers} ${code}: ${text}`);
      assert.match(text, new RegExp(`^Error: ${code}: `), `${providers} ${code}`);
    }
  }
});

test('a child that cannot be started has its code', async (t) => {
  const { loop, agent } = await twoTurns(t);
  const { subagents } = loop.ctx;
  const off = loop.ctx.effect(() => {
    const { start } = Object.getPrototypeOf(subagents);
    subagents.start = async () => {
      throw new Error('no room for another child');
    };
    return () => {
      subagents.start = start;
    };
  });
  const { text } = await expand(loop, agent, { turn: 1, question: 'q' });
  assert.match(text, /^Error: RECALL_START_FAILED: .*no room for another child.* Read the record with mode "raw"\./);
  off();
});

test('a cancelled caller ends the recall', async (t) => {
  const { loop, agent } = await twoTurns(t, { steps: { question: [{ text: 'slowly', hang: true }] } });
  loop.script.push('main', act([call('x', 'expand_turn', { turn: 1, question: 'q' })]));
  const ended = agent.prompt('go on');
  await until(() => loop.adapter.of('question').length === 1, 'the question');
  agent.agent.cancel({ kind: 'user' });
  const { reason } = await ended;
  assert.equal(reason.kind, 'aborted');
  await until(() => loop.ctx.agents.list().length === 1, 'the child is gone');
  assertSound(loop, agent);
});

test('a turn that is recalled while it runs is never sent to a fork', async (t) => {
  const moment = { act: () => undefined };
  const { loop, agent } = await twoTurns(t, { tools: [slowTool(moment)], steps: { question: [say('So far, this.')] } });
  const { text } = await expand(loop, agent, { turn: 3, question: 'what so far?' });
  assert.equal(text, 'So far, this.');
  assert.match(questionIn(loop.adapter.of('question')[0]), /\[turn 3 is still open: this is its record so far\]/);
});

test('a cheap provider that is not mounted is named by its setting, and nobody is asked', async (t) => {
  for (const providers of [['fork', 'spawn'], []]) {
    const config = { cheapProvider: 'nope', cheapModel: 'cheap-1', recallRecentWindowMs: 0 };
    const { loop, agent } = await twoTurns(t, { providers, config });
    const { text } = await expand(loop, agent, { turn: 1, question: 'q' });
    assert.equal(text, 'Error: RECALL_START_FAILED: cheapProvider is "nope", and no provider of that name is mounted '
      + '(mounted: scripted). Set cheapProvider and cheapModel of the row to a route that is there, or both to an empty '
      + 'string for the session\'s own; or read the record with mode "raw".');
    assert.equal(loop.adapter.of('question').length, 0);
  }
});
