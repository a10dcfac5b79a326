/** Cases 15 and C9, in the real loop: where the contract and the harness cross. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'node:test';
import { Service } from '@deepseek-ai/cordis';
import { isRewindReportSource } from '../../index.js';
import * as rewind from '../../index.js';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import { createLoop } from '../support/loop.js';
import { act, always, call, say } from '../support/script.js';
import { readTool } from '../support/tools.js';
import { call as toolCall, REPORT, scene } from './scene.js';

const LONG = 'a line that somebody read\n'.repeat(100);

async function loopOf(t, main, { before, plugins = [[checkpoint], [rewind]] } = {}) {
  const loop = await createLoop({
    before,
    plugins,
    tools: [readTool()],
    steps: { main, report: always(say(REPORT)) },
  });
  t.after(() => loop.dispose());
  return { loop, agent: await loop.agent() };
}

const sourcesOf = ({ session }) =>
  session.events.filter(({ type }) => type === 'user/message').map(({ data }) => data.source);
const warningsOf = (agent) => sourcesOf(agent).filter(({ plugin }) => plugin === 'rewind-guard');

test('O1 in the loop: a batch with the checkpoint, then a fold, then a second mark and fold', async (t) => {
  const { loop, agent } = await loopOf(t, [
    act([call('cp', 'checkpoint'), call('c1', 'read', { path: 'a' })]),
    act(call('c2', 'read', { path: 'b' })),
    act(call('rw', 'rewind')),
    act(call('cp2', 'checkpoint')),
    act(call('c3', 'read', { path: 'c' })),
    act(call('rw2', 'rewind')),
    say('done'),
  ]);
  const { reason } = await agent.prompt('look into it');
  assert.equal(reason.kind, 'completed');
  assert.deepEqual(loop.rejected, []);
  assert.equal(agent.fault(), undefined);
  assert.deepEqual(
    sourcesOf(agent)
      .filter(isRewindReportSource)
      .map(({ markId }) => markId),
    [1, 2],
  );
});

test("O2: a report has a source of its own, the guard's warning and a pointer have others", async (t) => {
  const { agent } = await loopOf(t, [
    act(call('cp', 'checkpoint')),
    act(call('c1', 'read', { path: 'a' })),
    say('done'),
    act(call('rw', 'rewind')),
    say('done'),
  ]);
  await agent.prompt('look into it');
  assert.equal(warningsOf(agent).length, 1);
  assert.ok(warningsOf(agent).every((source) => !isRewindReportSource(source)));
  assert.equal(sourcesOf(agent).filter(isRewindReportSource).length, 1);
  assert.equal(isRewindReportSource({ kind: 'plugin', plugin: 'rewind-pointer', markId: 1 }), false);
  assert.equal(isRewindReportSource({ kind: 'user' }), false);
});

test('O4: asked while idle, the last answer folds too', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).A({ t: 'the conclusion' }).idle();
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) REPORT1');
});

test('O4, beside: an idle session whose last message has a dead call keeps that message', async (t) => {
  const s = await scene(t);
  s.checkpoint().step('c1', LONG).A({ t: 'and' }, toolCall('c2', 'bash')).idle();
  await s.fold();
  assert.equal(s.surface, 'A{cp} R(cp) REPORT1 A{c2}');
});

/** Marks that are read slowly, as from a disk; one mark that is never folded. */
class SlowMarks extends Service {
  static inject = ['sessions'];

  constructor(ctx) {
    super(ctx, 'checkpoint');
  }

  async latestMark() {
    await sleep(50);
    return { id: 1, logLength: 2, foldedAt: null };
  }

  async hasActive() {
    await sleep(50);
    return true;
  }

  async completeFold() {}
}

test('O5: activeness that resolves after 50 ms still warns in the same turn', async (t) => {
  const { agent } = await loopOf(t, [say('done'), say('done, really')], {
    before: (ctx) => ctx.plugin(SlowMarks),
    plugins: [[rewind]],
  });
  await agent.prompt('go');
  assert.equal(warningsOf(agent).length, 1);
  const { events } = agent.session;
  const warned = events.findIndex(({ data }) => data.source?.plugin === 'rewind-guard');
  assert.ok(warned < events.findLastIndex(({ type }) => type === 'turn/end'));
});

test('C9: one warning a turn, whatever the rewinds answer, and the turn can end', async (t) => {
  const { agent } = await loopOf(t, [
    act(call('cp', 'checkpoint')),
    say('done'),
    say('done'),
    act(call('rw', 'rewind')),
    say('done'),
    say('never asked'),
  ]);
  const { reason } = await agent.prompt('go');
  assert.equal(reason.kind, 'completed');
  assert.ok(warningsOf(agent).length <= 1);
});
