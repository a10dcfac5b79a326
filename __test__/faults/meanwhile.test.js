/** What goes on beside a fold: other folds, other writers, other people's words (cases X1, X4 to X7). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { acquire, holder } from '../../plugin/host/lock.js';
import { snapshot } from '../laws/checks.js';
import { fromPerson } from '../support/loop.js';
import { outcomeOf } from './judge.js';
import { POINTS } from './points.js';
import { REPORT, Rig, UNSTAMPED } from './rig.js';

async function rigOf(t, plan) {
  const rig = await Rig.create(plan);
  t.after(async () => {
    await rig.dispose();
    assert.deepEqual(rig.rejections, []);
  });
  return rig;
}

/** Something that happens while the model writes the report. */
const whileWriting = (happen) => ({
  point: POINTS['middle chunk'],
  act: async (rig, proceed) => {
    await happen(rig);
    return proceed();
  },
});

const reportsIn = (session) => session.events.filter(({ data }) => data.source?.plugin === 'rewind');
const seqOf = (session, callId) => session.events.find(({ type, data }) => type === 'tool/result'
  && data.message.content[0].toolCallId === callId).seq;

/** Replaces a run of nodes as the harness's compaction does. */
function compact({ session, append }, start, end) {
  const { nodes } = session.surface;
  const shadowedSeqs = nodes.slice(nodes.indexOf(start), nodes.indexOf(end) + 1);
  const turn = session.events.findLast(({ type }) => type === 'turn/start').data.turn;
  const compactionId = `compaction-${session.seq}`;
  const content = [{ type: 'text', text: 'a summary' }];
  const source = { kind: 'plugin', plugin: 'compact', compactionId };
  append('compaction/start', { compactionId, turn });
  append('compaction/summary', {
    compactionId, summary: content, shadowedRange: { start, end }, shadowedSeqs, shadowedTokenCount: 1,
    provider: 'scripted', model: 'scripted-1',
  });
  append('user/message', { id: `m-${compactionId}`, role: 'user', content, source }, {
    surfaceOp: { op: 'replace', start, end }, sourceEventSeqs: shadowedSeqs,
  });
  append('compaction/end', { compactionId, turn });
}

test('two folds of one session: the second is refused at once, the model is asked once (X1)', async (t) => {
  const rig = await rigOf(t, whileWriting((its) => its.foldAgain()));
  await rig.explore();
  const refusal = await rig.second;
  assert.deepEqual([refusal.name, refusal.code], ['RewindError', 'FOLD_IN_PROGRESS']);
  assert.match(refusal.message, /being rewritten by rewind.*fold again/);
  assert.deepEqual(rig.folds.map(outcomeOf), ['folded', 'FOLD_IN_PROGRESS']);
  assert.equal(rig.loop.adapter.of('report').length, 1);
});

test('two folds of two sessions both succeed, one in the middle of the other (X1)', async (t) => {
  const rig = await rigOf(t, whileWriting(async (its) => {
    const [agent, session] = [its.agent, its.session];
    await its.live(await its.loop.agent());
    await its.explore();
    Object.assign(its, { other: its.session, agent, session });
  }));
  await rig.explore();
  assert.deepEqual(rig.folds.map(outcomeOf), ['folded', 'folded']);
  for (const session of [rig.session, rig.other]) assert.equal(reportsIn(session).length, 1);
  assert.notEqual(rig.session, rig.other);
});

test('another part of the package that rewrites the session is named, and the fold then works', async (t) => {
  const rig = await rigOf(t);
  await rig.wander();
  const release = acquire(rig.session, 'prune');
  const before = snapshot(rig.session);
  await assert.rejects(rig.ctx.rewind.rewind(rig.agent.agent), (error) => {
    assert.equal(error.code, 'FOLD_IN_PROGRESS');
    assert.match(error.message, /being rewritten by prune/);
    return true;
  });
  assert.deepEqual(snapshot(rig.session), before);
  assert.equal(holder(rig.session), 'prune');
  release();
  assert.equal((await rig.ctx.rewind.rewind(rig.agent.agent)).markId, 1);
});

test('code that folds while a turn runs, outside any call of it, is refused', async (t) => {
  const rig = await rigOf(t);
  let asked;
  const stop = rig.ctx.on('session/event', (session, { type }) => {
    if (type !== 'assistant/chunk' || asked) return;
    asked = rig.ctx.rewind.rewind(rig.agent.agent).catch((error) => error);
  });
  await rig.wander();
  stop();
  assert.equal((await asked).code, 'FOLD_IN_PROGRESS');
  assert.match((await asked).message, /turn is running/);
  assert.deepEqual(reportsIn(rig.session), []);
});

test('a person stops the report halfway: the half is nowhere, the surface as it was (X4)', async (t) => {
  const rig = await rigOf(t, whileWriting((its) => {
    its.cancel();
    return new Promise(() => {});
  }));
  const { reason } = await rig.explore();
  assert.equal(reason.kind, 'aborted');
  const [fold] = rig.folds;
  assert.deepEqual(fold.error, { kind: 'user' });
  assert.deepEqual(fold.after, fold.before);
  assert.ok(!JSON.stringify(rig.session.events).includes(REPORT));
  assert.equal(rig.nags, 0);
  await rig.again();
  assert.equal(outcomeOf(rig.folds.at(-1)), 'folded');
});

test('the exploration is compacted while the report is written (X5)', async (t) => {
  const whole = ['c1', 'c2'];
  const inner = ['c2', 'c2'];
  for (const [from, to] of [whole, inner]) {
    await t.test(from === to ? 'an inner pair alone' : 'from its first node to its last', async (tt) => {
      const rig = await rigOf(tt, whileWriting((its) => {
        const { nodes } = its.session.surface;
        const start = nodes[nodes.indexOf(seqOf(its.session, from)) - 1];
        compact(its, start, seqOf(its.session, to));
      }));
      await rig.explore();
      const [fold] = rig.folds;
      assert.equal(outcomeOf(fold), 'CHANGED');
      assert.deepEqual(reportsIn(rig.session), []);
      assert.equal(rig.agent.fault(), undefined);
      assert.equal(rig.loop.adapter.of('report').length, 1, 'asked again for a report that cannot land');
      await rig.again();
      assert.equal(rig.agent.fault(), undefined);
    });
  }
});

test('a node inside is replaced, its neighbours and their number stay: still a change (X5)', async (t) => {
  const rig = await rigOf(t, whileWriting((its) => its.prune()));
  await rig.explore();
  assert.equal(outcomeOf(rig.folds[0]), 'CHANGED');
  await rig.again();
  assert.equal(outcomeOf(rig.folds.at(-1)), 'folded');
});

test('words typed while the report is written stay behind it, verbatim (X6)', async (t) => {
  const words = 'also check b.rs\n  > and quote "this"';
  const log = ({ session }) => session.append('user/message', fromPerson(words), { surfaceOp: 'append' });
  for (const [how, type] of [['steering', (its) => its.agent.steer(words)], ['in the log at once', log]]) {
    await t.test(how, async (tt) => {
      const rig = await rigOf(tt, whileWriting(type));
      await rig.explore();
      assert.equal(outcomeOf(rig.folds[0]), 'folded');
      const texts = rig.agent.surface().map(({ data }) => data.content?.[0]?.text);
      const report = rig.agent.surface().findIndex(({ data }) => data.source?.plugin === 'rewind');
      assert.equal(texts.filter((text) => text === words).length, 1);
      assert.ok(texts.indexOf(words) > report);
    });
  }
});

test('the session refuses the report: nothing folds; the stamp fails: the fold stands (X7)', async (t) => {
  const refusing = {
    point: POINTS.report,
    act: () => {
      throw new Error('refused by a companion');
    },
  };
  const first = await rigOf(t, refusing);
  await first.explore();
  assert.equal(outcomeOf(first.folds[0]), 'CHANGED');
  assert.match(first.folds[0].error.message, /refused by a companion.*mark stays active/);
  assert.deepEqual(first.folds[0].after.nodes, first.folds[0].before.nodes);
  assert.equal(first.ctx.checkpoint.peek(first.session.id).foldedAt, null);

  const second = await rigOf(t, UNSTAMPED);
  await second.explore();
  const [fold] = second.folds;
  assert.equal(outcomeOf(fold), 'folded');
  assert.match(fold.result.warning, /could not be told \(disk full\)/);
  const told = second.agent.results().find(({ callId }) => callId === 'rw');
  assert.equal(told.isError, false);
  assert.match(told.text, /Folded 5 nodes.*Warning: .*disk full/);
  assert.equal(second.nags, 0);
  await second.again();
  assert.equal(outcomeOf(second.folds.at(-1)), 'EMPTY_REGION');
  assert.match(second.folds.at(-1).error.message, /report stands/);
  assert.equal(reportsIn(second.session).length, 1);
  assert.notEqual(second.ctx.checkpoint.peek(second.session.id).foldedAt, null, 'not stamped later');
});
