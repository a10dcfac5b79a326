/** Marks on the real loop, spec/rewind.md 5. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import CodeRuntime from '@deepseek-ai/dsh-code-runtime-worker-thread';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { Session } from '@deepseek-ai/dsh-session';
import * as checkpoint from '../plugin/checkpoint/index.js';
import { createLoop } from './support/loop.js';
import { act, call, say } from './support/script.js';
import { readTool, scriptedTool } from './support/tools.js';

async function loopOf(t, { config, ...options }) {
  const loop = await createLoop({ plugins: [[checkpoint, config]], ...options });
  t.after(() => loop.dispose());
  return loop;
}

/** A session of the loop's store, and a copy of it as a resume would make it. */
const restored = (session) =>
  Session.fromRestore(session.id, structuredClone(session.events), structuredClone(session.header));

const mark = (id, objective) => call(id, 'checkpoint', objective === undefined ? {} : { objective });

/** What a fold's commit leaves in the log, without the fold. */
function land(session, markId, from, to, more = {}) {
  const seqs = session.surface.nodes.slice(
    session.surface.nodes.indexOf(from),
    session.surface.nodes.indexOf(to) + 1,
  );
  return session.append(
    'user/message',
    createUserMessage({
      content: [{ type: 'text', text: 'report' }],
      source: { kind: 'plugin', plugin: 'rewind', markId, ...more },
    }),
    { surfaceOp: { op: 'replace', start: from, end: to }, sourceEventSeqs: seqs },
  );
}

const results = (session, callId) => session.events.filter(({ type, data }) =>
  type === 'tool/result' && data.message.source.callId === callId);

test('a mark is taken inside the call: log length before its own result, call id, objective', async (t) => {
  const loop = await loopOf(t, {
    tools: [readTool()],
    steps: { main: [act([mark('c1', ' find\nthe port ')]), act(call('c2', 'read', { path: 'a' })), say('ok')] },
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  const [result] = results(agent.session, 'c1');
  const taken = await loop.ctx.checkpoint.latestMark(agent.session.id);
  assert.deepEqual(taken, {
    id: 1, logLength: result.seq, callId: 'c1', objective: 'find\nthe port', foldedAt: null,
  });
  assert.ok(Object.isFrozen(taken));
  assert.deepEqual(result.data.meta, {
    rewindMark: { id: 1, logLength: result.seq, callId: 'c1', objective: 'find\nthe port' },
  });
  assert.equal(await loop.ctx.checkpoint.hasActive(agent.session.id), true);
  assert.equal(
    agent.results()[0].text,
    '[checkpoint mark 1] Explore now, and call `rewind` as soon as you have found out.',
  );
  assert.deepEqual(loop.rejected, []);
});
