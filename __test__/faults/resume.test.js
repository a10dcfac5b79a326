/** What stands after a crash, a reload or a fork: the log is the truth (cases R1 to R5, R7). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Session } from '@deepseek-ai/dsh-session';
import * as rewind from '../../index.js';
import * as bundled from '../../plugin/checkpoint/index.js';
import { snapshot } from '../laws/checks.js';
import { createLoop } from '../support/loop.js';
import { act, call, say } from '../support/script.js';
import { readTool } from '../support/tools.js';
import { outcomeOf } from './judge.js';
import { Rig, UNSTAMPED } from './rig.js';

async function rigOf(t, plan) {
  const rig = await Rig.create(plan);
  t.after(async () => {
    await rig.dispose();
    assert.deepEqual(rig.rejections, []);
  });
  return rig;
}

const reportsIn = (session) => session.events.filter(({ data }) => data.source?.plugin === 'rewind');

/** How far the disk got, by the events of the commit that are on it. */
const CUTS = {
  'before the price of the report': { edits: 0, folded: false },
  'between the price and the report': { edits: 1, folded: false },
  'after the report': { edits: 2, folded: true },
  'after the price of the pointer': { edits: 3, folded: true },
  'after the pointer': { edits: 4, folded: true },
  'after the price of the sibling': { edits: 5, folded: true },
  'after the sibling': { edits: 6, folded: true },
};

for (const [name, { edits, folded }] of Object.entries(CUTS)) {
  test(`the log ends ${name}: ${folded ? 'the fold stands' : 'it is done again'}, once (R1)`, async (t) => {
    const rig = await rigOf(t, UNSTAMPED);
    await rig.explore();
    const from = rig.folds[0].before.events.length;
    await rig.crash(from + edits);
    assert.equal(rig.agent.fault(), undefined);
    assert.equal(rig.ctx.checkpoint.peek(rig.session.id).foldedAt, null);

    const nags = rig.nags;
    await rig.chat();
    assert.equal(rig.nags - nags, folded ? 0 : 1, 'warnings over a mark whose report stands');

    await rig.again();
    assert.equal(outcomeOf(rig.folds.at(-1)), folded ? 'EMPTY_REGION' : 'folded');
    assert.equal(reportsIn(rig.session).length, 1);
    assert.notEqual(rig.ctx.checkpoint.peek(rig.session.id).foldedAt, null, 'the provider was not told');
    assert.equal(rig.agent.fault(), undefined);

    await rig.again();
    assert.equal(outcomeOf(rig.folds.at(-1)), 'EMPTY_REGION');
    assert.equal(reportsIn(rig.session).length, 1);
    assert.deepEqual(rig.loop.rejected, []);
  });
}

test('a folded session reads the same after a reload, message by message (R2)', async (t) => {
  const rig = await rigOf(t);
  await rig.explore();
  const rows = rig.session.events.map((event) => JSON.stringify(event));
  const again = Session.fromRestore(rig.session.id, rows.map((row) => JSON.parse(row)), rig.session.header);
  assert.equal(JSON.stringify(again.deriveMessages()), JSON.stringify(rig.session.deriveMessages()));
  assert.deepEqual([...again.surface.nodes], [...rig.session.surface.nodes]);
  const texts = JSON.stringify(again.deriveMessages());
  assert.ok(!texts.includes('a line that was read'), 'the reload replays what the report replaced');
  assert.match(texts, /Neither holds the fault/);
});

test('a log whose seqs roll back is refused by the seq, and nothing is folded across it (R3)', async (t) => {
  const rig = await rigOf(t);
  await rig.wander();
  const { agent: { id, options } } = rig.agent;
  const { nodes } = rig.session.surface;
  for (const seq of [nodes.at(-2), nodes.at(5)]) {
    const events = [...rig.session.events];
    events[seq] = { ...events[seq], seq: seq - 4 };
    const session = new Proxy(rig.session, {
      get: (target, key) => {
        const value = key === 'events' ? events : Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const before = snapshot(rig.session);
    await assert.rejects(rig.ctx.rewind.rewind({ id, options, session }), (error) => {
      assert.equal(error.code, 'UNBALANCED');
      assert.match(error.message, new RegExp(`\\b${seq}\\b`));
      return true;
    });
    assert.deepEqual(snapshot(rig.session), before);
  }
  assert.equal(rig.loop.adapter.of('report').length, 0);
});

test('a call that died with the process is answered by the resume, and folds so (R4)', async (t) => {
  const rig = await rigOf(t);
  await rig.wander();
  const lastCall = rig.session.events.findLast(({ type }) => type === 'tool/call');
  await rig.crash(lastCall.seq + 1);
  const synthetic = rig.agent.results().find(({ callId }) => callId === 'c2');
  assert.equal(synthetic.isError, true);
  await rig.again();
  const [fold] = rig.folds;
  assert.equal(outcomeOf(fold), 'folded');
  const [report] = reportsIn(rig.session);
  assert.ok(report.sourceEventSeqs.includes(synthetic.seq));
  assert.equal(rig.agent.fault(), undefined);
});

test('a fold only appends: every earlier event stays byte for byte (R5)', async (t) => {
  const rig = await rigOf(t);
  await rig.explore();
  const [{ before, after }] = rig.folds;
  const bytes = ({ events }) => events.slice(0, before.events.length).map((event) => JSON.stringify(event));
  assert.deepEqual(bytes(after), bytes(before));
  assert.deepEqual(after.events.slice(before.events.length).map(({ type }) => type), [
    'compaction/prune', 'user/message', 'compaction/prune', 'user/message', 'compaction/prune', 'tool/result',
  ]);
});

test('a fork of an open exploration has no mark of a provider that knows sessions by id (R7)', async (t) => {
  const rig = await rigOf(t);
  await rig.wander();
  const parent = rig.session;
  const before = snapshot(parent);
  const nags = rig.nags;
  await rig.live(await rig.loop.agent({
    id: 'the-fork', seed: parent.events, meta: { parentSession: parent.id, seedLength: parent.seq },
  }));
  await rig.chat();
  assert.equal(rig.nags, nags, 'the fork is nagged for a mark that is not its own');
  await rig.again();
  assert.equal(outcomeOf(rig.folds.at(-1)), 'NO_CHECKPOINT');
  assert.deepEqual(snapshot(parent), before);
});

/** Marks in one session, then goes on in a fork of it. */
async function forkWith(t, meta) {
  const loop = await createLoop({
    plugins: [[bundled, {}], [rewind, {}]],
    tools: [readTool({ '*': 'a line that nobody needs twice\n'.repeat(80) })],
    steps: {
      main: [
        act(call('cp', 'checkpoint')), act(call('c1', 'read', { path: 'a' })), say('later'),
        say('if you must'), act(call('rw', 'rewind')), say('done'),
      ],
      report: [say('Nothing was found.')],
    },
  });
  t.after(() => loop.dispose());
  const parent = await loop.agent();
  await parent.prompt('look around');
  const { id: parentSession, events: seed, seq: seedLength } = parent.session;
  const child = await loop.agent({ id: 'the-child', seed, meta: { parentSession, seedLength, ...meta } });
  const before = snapshot(parent.session);
  await child.prompt('fold it');
  assert.deepEqual(snapshot(parent.session), before, 'the fold wrote into the parent');
  assert.deepEqual(loop.rejected, []);
  return { child, seedLength };
}

test('a person\'s fork inherits the mark of the bundled provider and folds its own log (R7)', async (t) => {
  const { child } = await forkWith(t, {});
  assert.equal(reportsIn(child.session).length, 1);
  assert.equal(child.fault(), undefined);
});

test('a subagent does not inherit it: there is no checkpoint, and nobody nags (R7)', async (t) => {
  const { child, seedLength } = await forkWith(t, { origin: 'subagent', delegationDepth: 1 });
  const [result] = child.results().filter(({ callId }) => callId === 'rw');
  assert.equal(result.error.code, 'NO_CHECKPOINT');
  const own = child.session.events.slice(seedLength);
  assert.deepEqual(own.filter(({ data }) => data.source?.plugin === 'rewind-guard'), []);
});
