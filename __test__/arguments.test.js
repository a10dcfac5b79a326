/** Arguments that a tool does not take: refused with the names of those it does, never passed over. */
import assert from 'node:assert/strict';
import test from 'node:test';
import * as rewind from '../index.js';
import * as checkpoint from '../plugin/checkpoint/index.js';
import { defineStrictTool } from '../plugin/host/tool.js';
import * as recall from '../plugin/recall/index.js';
import * as turnMemory from '../plugin/turn-memory/index.js';
import { createLoop } from './support/loop.js';
import { act, call, say } from './support/script.js';
import { readTool } from './support/tools.js';

const TAKES = {
  rewind: [{ markId: 2 }, '"markId" is no argument of rewind, which takes none'],
  checkpoint: [{ goal: 'find it' }, '"goal" is no argument of checkpoint, which takes objective'],
  recall: [
    { files: 'a', patern: 'b' },
    '"files", "patern" are no arguments of recall, which takes seq, path, pattern, offset, limit',
  ],
  expand_turn: [{ turn: 1, query: 'x' }, '"query" is no argument of expand_turn, which takes turn, question, mode'],
  compact_turn: [{ id: 1 }, '"id" is no argument of compact_turn, which takes turn'],
};

for (const [tool, [args, sentence]] of Object.entries(TAKES)) {
  test(`${tool} ${JSON.stringify(args)}`, async (t) => {
    const loop = await createLoop({
      tools: [readTool()],
      plugins: [[rewind, {}], [checkpoint, {}], [recall, {}], [turnMemory, { maxAttemptsPerTurn: 1 }]],
      steps: { main: [act(call('cp', 'checkpoint')), act(call('c1', 'read', { path: 'a' })), act(call('bad', tool, args)), say('ok')] },
    });
    t.after(() => loop.dispose());
    const agent = await loop.agent();
    const turn = agent.prompt('go');
    loop.script.push('main', say('done'));
    await turn;
    const { text, isError, error } = agent.results().find(({ callId }) => callId === 'bad');
    assert.deepEqual([isError, error.code, text], [true, 'INVALID_ARGS', `Error: invalid arguments: ${sentence}`]);
    assert.equal((await loop.ctx.checkpoint.latestMark(agent.session.id)).id, 1, 'no mark is set, none is folded');
    assert.equal(agent.session.events.some(({ data }) => data?.source?.plugin === 'rewind'), false);
  });
}

test('what a tool takes reaches it as before, and the harness names a wrong kind first', async () => {
  const options = {
    name: 'sample',
    description: 'A sample.',
    parameters: { path: { type: 'string', required: true }, constructor: { type: 'integer' } },
    output: { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] },
    execute: async ({ path }, { agent }) => `${path} ${agent}`,
  };
  const tool = defineStrictTool(options);
  assert.deepEqual(Object.keys(tool.parameters.properties), ['path', 'constructor']);
  assert.equal(await tool.execute({ path: 'a' }, { agent: 7 }), 'a 7');
  await assert.rejects(async () => tool.execute({ path: 5, toString: 1 }, {}), /^ToolArgsError: invalid arguments: "path"/);
  await assert.rejects(async () => tool.execute({ path: 'a', toString: 1 }, {}), /"toString" is no argument of sample, which takes path, constructor/);
});
