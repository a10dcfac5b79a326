/** What happens when a landing fails half-way, a service is missing or comes late, and what the goal is. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolResultPruner } from '@deepseek-ai/dsh-compaction-tool-result-pruner';
import { goalOf } from '../../plugin/prune/state.js';
import { createLoop, fromPerson } from '../support/loop.js';
import { say } from '../support/script.js';
import { readTool } from '../support/tools.js';
import { assertPriced, assertValid, judgePlugin, page, prune, reads, receiptsOn, resultsOn, stage } from './stage.js';

const MARKER = /characters cut by prune/;
const NAMES = ['a', 'b', 'c', 'd'];
const pages = Object.fromEntries(NAMES.map((name) => [name, page(name, 6_000)]));
const ALL_STALE = { judge: 'fixed', judgeOn: 'always', keepMode: 'absolute', compactMode: 'absolute' };

/** Refuses the n-th replacement of a session from now on, its price included. */
function refuseFrom(session, count, isMeant) {
  const append = session.append.bind(session);
  let left = count;
  session.append = (type, data, options) => {
    if (isMeant(type, data, options) && (left -= 1) < 0) throw Object.assign(new Error('the disk is full'), { code: 'DISK' });
    return append(type, data, options);
  };
}

async function ready(config, { need = () => 0.01, ...how } = {}) {
  const judge = judgePlugin(({ path }) => need(path));
  const loop = await stage({
    window: 1_000_000, pages, steps: NAMES.map((name) => reads(name)), after: [[judge]], ...how,
    config: { ...ALL_STALE, preserveRecent: 1, softLimit: '100%', ...config },
  });
  return { loop, judge, agent: await loop.agent() };
}

test('a cut that the session refuses ends the pass; what was cut before stays, and counts', async () => {
  const answers = [];
  const { loop, agent } = await ready({ compactReceipts: false, judgeOn: 'always' }, {
    steps: [
      reads(...NAMES),
      reads('x'),
      () => {
        // The pass before this step has been refused everything; the host's own call now gets two of four.
        delete agent.session.append;
        refuseFrom(agent.session, 2, (_type, _data, { surfaceOp } = {}) => surfaceOp?.op === 'replace');
        answers.push(loop.ctx.get('toolResultPruner').pruneSession(agent.session));
        delete agent.session.append;
        return say('done');
      },
    ],
  });
  refuseFrom(agent.session, 0, (type) => type === 'compaction/prune');
  assert.equal((await agent.prompt('read')).text, 'done', 'the steps went on');
  const [{ pruned, charsRemoved }] = answers;
  const cut = resultsOn(agent).filter(({ text }) => MARKER.test(text));
  assert.deepEqual(pruned.map(({ replacementSeq }) => replacementSeq), cut.map(({ seq }) => seq));
  assert.equal(pruned.length, 2);
  assert.equal(charsRemoved, pruned.reduce((sum, { charsBefore, charsAfter }) => sum + charsBefore - charsAfter, 0));
  const { text } = (await agent.command('/prune status')).result;
  assert.match(text, /, 2 cut by verdict, .* [1-9]\d* errors?\.$/m);
  assert.match(text, /^Warning: cutting ended early: the disk is full$/m);
  assertValid(loop, agent);
  await loop.dispose();
});

test('a receipt that the session refuses ends the pass; the one before it stays, and counts', async () => {
  const { loop, agent } = await ready({ judgeOn: 'always', compactOn: 'off', neverPruneTools: ['read'] }, {
    need: (path) => (path === 'stay' ? 0.9 : 0.01),
    pages: { ...pages, stay: page('stay', 300) },
    steps: [reads('a'), reads('stay', 'stay'), reads('b'), reads('stay', 'stay'), reads('c'), reads('d')],
  });
  await agent.prompt('read');
  refuseFrom(agent.session, 1, (_type, { source } = {}) => source?.plugin === 'rewind-prune');
  const { kind, text } = (await agent.command('/prune now')).result;
  delete agent.session.append;
  assert.equal(kind, 'success');
  assert.match(text, /^1 receipt landed, [\d,]+ characters freed\.\nThe next one did not land: DISK\.$/m);
  assert.equal(receiptsOn(agent).length, 1);
  const status = (await agent.command('/prune status')).result.text;
  assert.match(status, /, 1 receipt, .* 1 error\.$/m);
  assert.match(status, /a receipt did not land: DISK/);
  assertValid(loop, agent);
  await loop.dispose();
});

test('without a token meter a limit in tokens lets every pass through, with one warning, a share none', async () => {
  for (const [compactSoftLimit, reason, lands] of [['1', 'unmeasured', true], ['1%', 'meter-missing', false]]) {
    const { loop, agent } = await ready({ judgeOn: 'pressure', compactSoftLimit }, { meter: false });
    await agent.prompt('read');
    const { text } = (await agent.command('/prune status')).result;
    assert.equal(receiptsOn(agent).length > 0, lands, text);
    assert.match(text, new RegExp(`^Receipts: ${lands ? 'open' : 'closed'} \\(${reason}`, 'm'));
    assert.equal(text.split('no token meter: compactSoftLimit lets every pass through').length, lands ? 2 : 1);
    assertValid(loop, agent);
    await loop.dispose();
  }
});

test('a pruner that comes after its agent is hooked at the next step', async () => {
  const judge = judgePlugin(() => 0.01);
  const loop = await createLoop({
    tools: [readTool({ '*': page('x', 6_000) })],
    plugins: [[prune, prune.Config({ ...ALL_STALE, compactReceipts: false, preserveRecent: 1 })], [judge]],
    steps: { main: [reads('a'), reads('b'), say('done')] },
  });
  const agent = await loop.agent();
  await loop.mount(ToolResultPruner, {});
  assert.ok(!Object.hasOwn(loop.ctx.get('toolResultPruner'), 'pruneSession'));
  await agent.prompt('read');
  assert.ok(Object.hasOwn(loop.ctx.get('toolResultPruner'), 'pruneSession'));
  assert.ok(MARKER.test(resultsOn(agent)[0].text));
  await loop.dispose();
});

test('between turns the region transport waits for the next step: its bracket needs an open turn', async () => {
  const row = { receiptTransport: 'region', compactOn: 'off', neverPruneTools: ['read'] };
  const { loop, agent } = await ready(row);
  await agent.prompt('read');
  const { text } = (await agent.command('/prune now')).result;
  assert.match(text, /^0 receipts landed, 0 characters freed\.\nThe rest \(results to cut, and \d receipts? inside /);
  const isReceipt = ({ data }) => data.source?.plugin === 'compact';
  assert.ok(!agent.surface().some(isReceipt));
  loop.script.push('main', say('next'));
  await agent.prompt('go on');
  assert.ok(agent.surface().some(isReceipt));
  assertValid(loop, agent);
  assertPriced(agent);
  await loop.dispose();
});

test('while a session compaction runs nothing is asked of the session, and the person is told', async () => {
  const gate = Promise.withResolvers();
  const { loop, agent } = await ready({ compactOn: 'off', neverPruneTools: ['read'] }, {
    compaction: { auto: false, retainTokens: 10 },
    match: { summary: ({ options }) => options.purpose === 'compaction' },
    lanes: { summary: [say('What went before.')] },
    gate: ({ lane }) => (lane === 'summary' ? gate.promise : undefined),
  });
  await agent.prompt('read');
  const compacting = loop.ctx.get('compaction').compactNow(agent.agent, new AbortController().signal);
  await sleep(20);
  const before = agent.session.seq;
  const settled = agent.command('/prune now');
  await sleep(20);
  assert.ok(!agent.session.events.slice(before).some(({ surfaceOp }) => surfaceOp !== undefined));
  gate.resolve();
  await compacting;
  const { kind } = (await settled).result;
  assert.ok(['success', 'error'].includes(kind));
  assert.deepEqual(receiptsOn(agent), []);
  assertValid(loop, agent);
  await loop.dispose();
});

test('ours runs before a listener that was there first', async () => {
  const seen = [];
  const { loop, agent } = await ready({ compactReceipts: false }, {
    before: (ctx) => ctx.on('agent/pre-step', (payload, next) => {
      const { events, surface } = payload.agent.session;
      seen.push(surface.nodes.filter((seq) => MARKER.test(JSON.stringify(events[seq].data))).length);
      return next();
    }),
  });
  await agent.prompt('read');
  assert.deepEqual(seen, [0, 0, 1, 2, 3], 'whoever measures next finds it cut already');
  await loop.dispose();
});

test('what layer 1 freed may be enough: no receipt lands then', async () => {
  for (const [compactSoftLimit, receipts] of [['5000', 0], ['1', 1]]) {
    const config = { judgeOn: 'pressure', softLimit: '1', compactSoftLimit, compactMinChars: 100, receiptMaxRatio: 1 };
    const { loop, agent } = await ready(config, {
      pages: { a: page('a', 30_000), x: page('x', 300) }, need: (path) => (path === 'a' ? 0.01 : 0.9),
      steps: [reads('a'), reads('x')],
    });
    await agent.prompt('read');
    const cuts = agent.session.events.filter(({ type, data, surfaceOp }) => (
      type === 'tool/result' && surfaceOp !== 'append' && MARKER.test(JSON.stringify(data))));
    assert.equal(cuts.length, 1);
    assert.equal(receiptsOn(agent).length, receipts, compactSoftLimit);
    await loop.dispose();
  }
});

test('outside a turn the pruner cuts nothing, judged or not', async () => {
  const { loop, agent } = await ready({ judgeOn: 'pressure', compactReceipts: false, preserveRecent: 1 });
  await agent.prompt('read');
  assert.match((await agent.command('/prune dry-run')).result.text, /^[1-9] results? would be cut:$/m);
  const before = agent.session.surface.nodes.slice();
  const answer = loop.ctx.get('toolResultPruner').pruneSession(agent.session);
  assert.deepEqual(answer, { pruned: [], charsRemoved: 0 });
  assert.deepEqual(agent.session.surface.nodes, before);
  assert.match((await agent.command('/prune status')).result.text, /, 0 errors\.$/m);
  await loop.dispose();
});

test('while the bracket of a compaction is open no receipt lands', async () => {
  const { loop, agent } = await ready({ neverPruneTools: ['read'], compactOn: 'always' }, { invariants: false });
  loop.script.push('main', say('next'));
  agent.session.append('compaction/start', { turn: 1, reason: 'pressure' });
  await agent.prompt('read');
  assert.deepEqual(receiptsOn(agent), []);
  assert.match((await agent.command('/prune status')).result.text, /receipts: a compaction runs/);
  await loop.dispose();
});

test("the goal is a person's last three messages, whatever has replaced them on the surface", async () => {
  const { loop, agent, judge } = await ready({ compactReceipts: false }, { need: () => 0.9, invariants: false });
  for (const [at, words] of ['first goal', 'second goal', 'third goal', 'fourth goal'].entries()) {
    if (at > 0) loop.script.push('main', say('ok'));
    await agent.prompt(words);
  }
  const { state } = judge.asked.at(-1);
  const goals = [...state.matchAll(/^- (.* goal)$/gm)].map(([, words]) => words);
  assert.deepEqual(goals, ['second goal', 'third goal', 'fourth goal']);
  const [first] = agent.session.surface.nodes;
  agent.session.append('user/message', fromPerson('another goal'), {
    surfaceOp: { op: 'replace', start: first, end: first }, sourceEventSeqs: [first],
  });
  assert.deepEqual(goalOf(agent.session).texts, goals);
  await loop.dispose();
});
