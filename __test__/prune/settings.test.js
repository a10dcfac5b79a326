/** Every setting that decides does what its line says, through the row, on one session of the real loop. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { native } from '../../plugin/native.js';
import { readView } from '../../plugin/prune/view.js';
import { act, call, say } from '../support/script.js';
import { judgePlugin, page, prune, reads, resultsOn, stage } from './stage.js';

const LONG_WORDS = 'I look at the first part now, since everything else builds on it. '.repeat(4);
const LONG_ARGUMENT = `a/${'deep/'.repeat(40)}file`;

let loop;
let session;

before(async () => {
  loop = await stage({
    config: { enabled: false },
    window: 1_000_000,
    pages: { a: page('a', 6_000), b: page('b', 3_000), e: `${page('e', 6_000)}it failed\n`, f: page('f', 1_500) },
    steps: [
      act(call('c1', 'read', { path: 'a' }), { text: LONG_WORDS, reasoning: 'let me think about it. '.repeat(20) }),
      reads('b'), act(call('c3', 'bash', { command: 'ls' })), reads('e'), reads(LONG_ARGUMENT), reads('f', 'f'),
    ],
  });
  const agent = await loop.agent();
  await agent.prompt(`Look at all of it. ${'Take your time. '.repeat(60)}`);
  ({ session } = agent);
});
after(() => loop.dispose());

/** What the core makes of the session under a row: cuts, receipts and a judge's state, all results judged low. */
function under(row) {
  const config = prune.Config({ compactMode: 'absolute', keepMode: 'absolute', preserveRecent: 1, ...row });
  const { view, events, seqs } = readView(new native.PruneSettings(JSON.stringify(config)), session);
  const low = (value) => new Float64Array(seqs.length).fill(value);
  const verdicts = { seqs: Uint32Array.from(seqs), need: low(0.1), effect: low(0.05) };
  const toolOf = (seq) => {
    const { callId } = events[seq].data.message.source;
    return events.flatMap(({ type, data }) => (type === 'assistant/message' ? data.message.content : []))
      .find(({ id }) => id === callId).name;
  };
  const receipts = view.receipts(verdicts);
  const edits = receipts.edits();
  const free = edits.map(() => 1);
  const { batches } = view.batches(['the goal'], seqs.slice(-1), [], config.maxRequestTokens, 1_000);
  return {
    cuts: view.trims(verdicts, 1).cuts,
    stays: receipts.stays,
    edits,
    tools: [...new Set(edits.flatMap(({ seqs: taken }) => taken)
      .filter((seq) => events[seq].type === 'tool/result').map(toolOf))].toSorted(),
    admitted: (landed = free, shadowed = edits.map(() => 100)) => receipts.admit(landed, shadowed).length,
    state: batches[0].state,
  };
}

const saved = ({ charsBefore, charsAfter }) => charsBefore - charsAfter;
const lengthOf = (state, mark) => state.split('\n').find((line) => line.includes(mark)).length;

test('of layer 1', () => {
  const base = under({});
  assert.ok(base.cuts.length >= 4);
  const at = (row) => under(row).cuts;
  assert.deepEqual(at({ minGainChars: 100_000 }), []);
  assert.deepEqual(at({ minCharsToPrune: 5_000 }).map(({ charsBefore }) => charsBefore > 5_000), [true, true]);
  assert.deepEqual(at({ preserveRecent: 100 }), []);
  assert.ok(at({ neverPruneTools: ['READ'] }).length < base.cuts.length, 'names are compared without case');
  assert.deepEqual(at({ keepThreshold: 0.1, keepFloorThreshold: 0.1 }), [], 'from the threshold on a result is needed');
  const [first] = base.cuts;
  assert.equal(saved(first) - saved(at({ headChars: 700 })[0]), 100);
  assert.equal(saved(first) - saved(at({ tailChars: 350 })[0]), 150);
});

test('of what a judge is told', () => {
  const { state } = under({});
  const [words, call1, result] = [LONG_WORDS.slice(0, 20), '[tool_call] read {"path":"a/', '[tool_result] ok, 6'];
  assert.ok(lengthOf(under({ textHead: 30, textTail: 10 }).state, words) < lengthOf(state, words));
  assert.ok(lengthOf(under({ inputChars: 20 }).state, call1) < lengthOf(state, call1));
  assert.ok(lengthOf(under({ resultExcerptChars: 30 }).state, result) < lengthOf(state, result));
  const few = { maxStateTokens: 200, minHistoryLines: 1 };
  const lines = (row) => under(row).state.split('\n').length;
  assert.ok(lines(few) < state.split('\n').length, 'history goes');
  assert.ok(lines(few) <= lines({ ...few, minHistoryLines: 100 }), 'but not its newest lines');
  assert.equal(lines({ ...few, minHistoryLines: 100 }), state.split('\n').length);
});

test('of layer 2: which steps may go', () => {
  const base = under({});
  assert.deepEqual(base.tools, ['read']);
  assert.ok(base.stays.evidence >= 1 && base.stays.tool >= 1);
  assert.deepEqual(under({ compactTools: ['bash'] }).tools, ['bash']);
  assert.deepEqual(under({ compactTools: [] }).tools, ['bash', 'read'], 'the denied ones alone decide');
  assert.deepEqual(under({ neverCompactTools: ['READ'] }).edits, []);
  assert.equal(under({ evidenceGuard: false }).stays.evidence ?? 0, 0);
  assert.deepEqual(under({ evidencePatterns: ['plain'] }).edits, []);
  assert.deepEqual(under({ compactPreserveRecent: 100 }).edits, []);
  assert.deepEqual(under({ compactThreshold: 0.1 }).edits, [], 'both axes are under the threshold');
  assert.equal(under({ maxStepTextChars: 10 }).stays.text, 1);
  assert.equal(under({ maxStepReasoningChars: 10 }).stays.reasoning, 1);
  const relative = (row) => under({ compactMode: 'relative', ...row }).edits.length;
  assert.equal(relative({}), base.edits.length, 'equal axes: the floor decides');
  assert.equal(relative({ floorThreshold: 0.1 }), 0);
  assert.equal(relative({ compactQuantile: 0 }), 0);
  assert.equal(relative({ minCandidatesForRelative: 60, minCandidatesForFloor: 60 }), 0);
});

test('of layer 2: which receipts are worth it, and what they say', () => {
  const base = under({});
  assert.equal(base.admitted(), Math.min(3, base.edits.length));
  assert.equal(under({ maxCompactionsPerPass: 1 }).admitted(), 1);
  assert.deepEqual(under({ compactMinChars: 100_000 }).edits, []);
  const dear = base.edits.map(() => 40);
  assert.equal(under({ receiptMaxRatio: 0.39 }).admitted(dear), 0);
  assert.ok(under({ receiptMaxRatio: 0.4 }).admitted(dear) > 0);
  const text = (row) => under(row).edits.map((edit) => edit.text).join('\n');
  assert.ok(text({}).includes(LONG_WORDS.trim().slice(0, 200)));
  assert.ok(!text({ receiptTextChars: 50 }).includes(LONG_WORDS.slice(0, 60)));
  assert.ok(text({}).includes(LONG_ARGUMENT.slice(0, 100)));
  assert.ok(!text({ receiptArgChars: 30 }).includes(LONG_ARGUMENT.slice(0, 40)));
  assert.ok(text({ receiptLanguage: 'zh' }).startsWith('[已压缩 · 确定性回执]'));
});

/** A turn of four stale reads under `judgeOn: always`. */
async function always(config) {
  const judge = judgePlugin(({ path }) => ({ a: 0.1, b: 0.2, c: 0.3, d: 0.4 })[path] ?? 0.9);
  const own = await stage({
    window: 1_000_000,
    pages: Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, page(name, 6_000)])),
    steps: [reads('a', 'b', 'c', 'd'), reads('x'), say('done')],
    config: {
      judge: 'fixed', judgeOn: 'always', compactReceipts: false, preserveRecent: 1, minCandidatesForBudget: 1, ...config,
    },
    after: [[judge]],
  });
  const agent = await own.agent();
  await agent.prompt('read');
  const cut = resultsOn(agent).filter(({ text }) => text.includes('characters cut by prune')).length;
  const said = own.logs().filter(({ text }) => /results cut by verdict/.test(text));
  await own.dispose();
  return { cut, said };
}

test('alwaysTrimRatio is the share of possible savings that is freed without pressure', async () => {
  assert.equal((await always({ alwaysTrimRatio: 0 })).cut, 0);
  assert.equal((await always({ alwaysTrimRatio: 1 })).cut, 4);
  const { cut } = await always({ alwaysTrimRatio: 0.3 });
  assert.ok(cut >= 2 && cut < 4, String(cut));
});

test('logLevel lets through what is as severe or more', async () => {
  assert.ok((await always({ alwaysTrimRatio: 1, logLevel: 'info' })).said.length > 0);
  assert.deepEqual((await always({ alwaysTrimRatio: 1, logLevel: 'warn' })).said, []);
});
