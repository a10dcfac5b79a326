/** `dsh-rewind` over marks that were taken inside `run_code` programs, in logs of the real loop. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import CodeRuntime from '@deepseek-ai/dsh-code-runtime-worker-thread';
import * as rewind from '../../index.js';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import { createLoop } from '../support/loop.js';
import { act, call, say } from '../support/script.js';
import { readTool } from '../support/tools.js';
import { auditOf, scratch, writeSession } from './run.js';

const program = (id, code) => act(call(id, 'run_code', { code, description: 'explore' }));

/** The audit of a session whose model takes these steps, and the session. */
async function audited(t, { toolName = 'checkpoint', steps }) {
  const loop = await createLoop({
    plugins: [[rewind, { checkpointToolName: toolName }], [checkpoint, { toolName }]],
    tools: [readTool({ quoted: '[checkpoint mark 9] stands in this file' })],
    before: (ctx) => ctx.plugin(CodeRuntime),
    steps: { main: [...steps, say('done')], report: [say('## Findings\nThe port is 7777.')] },
  });
  t.after(() => loop.dispose());
  const agent = await loop.agent();
  agent.agent.ctx.tools.presentAs('both');
  await agent.prompt('find the port');
  assert.deepEqual(loop.rejected, []);
  const path = join(scratch(t), 'session.jsonl');
  writeSession(path, agent.session);
  const { code, audits: [audit] } = auditOf(path);
  assert.deepEqual([code, audit.findings], [0, []]);
  return { audit, session: agent.session };
}

for (const toolName of ['checkpoint', 'set_mark']) {
  test(`a mark of the tool "${toolName}" in a program is listed like any other, and so is its fold`, async (t) => {
    const { audit, session: { events } } = await audited(t, {
      toolName,
      steps: [
        program('p0', `await tools.read({ path: 'quoted' });
        return (await tools.${toolName}({ objective: 'find the port' })).id;`),
        act([call('r1', 'read', { path: 'a' }), call('r2', 'read', { path: 'b' })]),
        program('p1', 'return (await tools.rewind({})).foldedNodes;'),
      ],
    });
    const ended = events.find(({ type, data }) => type === 'tool/code-dispatch' && data.name === toolName);
    const began = events.find(({ type, data }) => (
      type === 'tool/code-dispatch-start' && data.subCallId === ended.data.subCallId
    ));
    const report = events.find(({ data }) => data.source?.plugin === 'rewind');
    assert.deepEqual(audit.marks, [{
      id: '1', seq: ended.seq, logLength: began.seq + 1, objective: 'find the port', report: report.seq, discarded: false,
    }]);
    assert.deepEqual(audit.folds.map(({ mark, nodes }) => [mark, nodes]), [['1', 3]]);
  });
}

test('marks of one program and of a call stand in the order in which they were taken', async (t) => {
  const { audit } = await audited(t, {
    steps: [
      program('p0', 'await tools.checkpoint({}); return (await tools.checkpoint({ objective: "again" })).id;'),
      act(call('cp', 'checkpoint', { objective: 'by a call' })),
    ],
  });
  assert.deepEqual(
    audit.marks.map(({ id, objective, report }) => [id, objective, report]),
    [['1', undefined, null], ['2', 'again', null], ['3', 'by a call', null]],
  );
});
