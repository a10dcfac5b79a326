/** The `rewind` tool, its refusals and the prompt (docs/rewind.md 1.8, 4.1, 4.2, 4.4, 4.5). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { HarnessError } from '@deepseek-ai/dsh-llm';
import * as rewind from '../../index.js';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import { createLoop } from '../support/loop.js';
import { act, call, say } from '../support/script.js';
import { readTool } from '../support/tools.js';
import { REPORT, sceneOf, until } from './scene.js';

async function loopOf(t, main, { config = {}, report = [say(REPORT)], plugins = [[checkpoint, {}]], ...more } = {}) {
  const loop = await createLoop({
    tools: [readTool()], plugins: [[rewind, config], ...plugins], steps: { main, report },
    match: { report: ({ maxTokens }) => maxTokens === 1024 }, ...more,
  });
  t.after(() => loop.dispose());
  return loop;
}

const MARK = act(call('cp', 'checkpoint'));
const LOOK = act(call('c1', 'read', { path: 'a' }));
const FOLD = act(call('rw', 'rewind'));

/** The last result of the rewind tool: what the model reads, what the log keeps. */
const answered = (agent) => agent.results().findLast(({ callId }) => callId === 'rw');

test('4.1: no arguments; the numbers reach the caller, the model, the log and the report alike', async (t) => {
  const loop = await loopOf(t, [MARK, LOOK, FOLD, say('done')], {
    report: [say(REPORT, { usage: { input: 900, cached: 800, output: 40 } })],
  });
  const tool = loop.ctx.tools.get('rewind');
  assert.deepEqual(tool.parameters.properties ?? {}, {});
  const values = [];
  loop.ctx.on('tools/result', (exec, result) => void (exec.name === 'rewind' && values.push(result.value ?? result.output ?? result)));
  const agent = await loop.agent();
  await agent.prompt('find the port');
  const { seq, text } = answered(agent);
  const { meta } = agent.session.events[seq].data;
  const report = agent.surface().find(({ data }) => rewind.isRewindReportSource(data.source));
  const [start, end] = [report.sourceEventSeqs[0], report.sourceEventSeqs.at(-1)];
  const { markId, foldedNodes, foldedChars, reportChars, foldedTokens, reportTokens, usage } = meta;
  assert.deepEqual([markId, foldedNodes, meta.start, meta.end], [1, 2, start, end]);
  assert.equal(reportChars, report.data.content[0].text.length);
  assert.ok(reportChars < foldedChars && reportTokens < foldedTokens);
  assert.deepEqual(usage, { inputTokens: 900, outputTokens: 40, cacheReadTokens: 800 });
  for (const number of [foldedNodes, foldedChars, reportChars, foldedTokens, reportTokens]) {
    assert.match(text, new RegExp(`\\b${number}\\b`));
  }
  assert.ok(text.includes(`(s${start} to s${end}; `), text);
  for (const field of ['markId', 'foldedNodes', 'start', 'end', 'foldedChars', 'reportChars', 'foldedTokens', 'reportTokens']) {
    assert.equal(report.data.source[field], meta[field], field);
  }
  assert.equal(text.includes(REPORT), false, 'the report is read in its place, not twice');
  assert.equal(tool.presentCall({}).card, 'generic');
  assert.equal(tool.presentResult({}, { isError: false, meta }).card, 'generic');
  assert.equal(tool.presentResult({}, { isError: true }).card, 'generic');
});

test('4.1: the card shows the report, also one that stands in the result of a call beside the checkpoint', async (t) => {
  const beside = act([call('cp', 'checkpoint'), call('c1', 'read', { path: 'a' })]);
  for (const main of [[MARK, LOOK, FOLD, say('done')], [beside, FOLD, say('done')]]) {
    const loop = await loopOf(t, main);
    const agent = await loop.agent();
    await agent.prompt('find the port');
    const { meta } = agent.session.events[answered(agent).seq].data;
    const { title, content } = loop.ctx.tools.get('rewind').presentResult({}, { isError: false, meta });
    assert.match(title, /^Folded \d nodes?: \d+ to \d+ tokens/);
    assert.equal(content[0].text, meta.reportText);
    assert.ok(meta.reportText.startsWith('[rewind report of mark 1]') && meta.reportText.includes(REPORT), meta.reportText);
  }
});

test('4.1: without a meter there are no tokens in the result', async (t) => {
  const scene = await sceneOf(t, { meter: false });
  scene.mark();
  scene.look('c1');
  scene.rewind();
  const result = await scene.fold();
  assert.equal('foldedTokens' in result || 'reportTokens' in result, false);
});

test('4.1, 4.2: a refusal is a HarnessError whose code reaches the log and whose words reach the model', async (t) => {
  const cases = {
    NO_CHECKPOINT: { main: [FOLD, say('ok')], words: /No checkpoint is set.*`checkpoint`/ },
    EMPTY_REGION: { main: [MARK, FOLD, say('ok')], words: /Nothing to fold.*explore first/ },
    SUMMARY_FAILED: { main: [MARK, LOOK, FOLD, say('ok'), say('ok')], report: [{ status: 500, error: 'full' }], words: /full.*fold again later/ },
    SHRINK: { main: [MARK, LOOK, FOLD, say('ok')], report: [say('b'.repeat(9000))], words: /9,000.*go on/ },
  };
  for (const [code, { main, report, words }] of Object.entries(cases)) {
    const loop = await loopOf(t, main, { report });
    const agent = await loop.agent();
    assert.deepEqual((await agent.prompt('find the port')).reason, { kind: 'completed' }, code);
    const { isError, error, text } = answered(agent);
    assert.deepEqual([isError, error], [true, { name: 'RewindError', code }]);
    assert.match(text, words);
    assert.deepEqual(loop.rejected, []);
  }
  assert.ok(new rewind.RewindError('CHANGED', 'x') instanceof HarnessError);
});

test('4.1: SHRINK and success carry the numbers for code too', async (t) => {
  const scene = await sceneOf(t, { report: [say('b'.repeat(9000))] });
  scene.mark();
  scene.look('c1');
  scene.rewind();
  const { detail } = await scene.refused();
  const { markId, foldedNodes, foldedChars, reportChars, foldedTokens, reportTokens } = detail;
  assert.deepEqual([markId, foldedNodes], [1, 2]);
  assert.ok(reportChars >= foldedChars && reportTokens >= foldedTokens && foldedTokens > 0);
});

test('C2: a second rewind on a folded mark says that its report stands and what to do', async (t) => {
  const loop = await loopOf(t, [MARK, LOOK, FOLD, act(call('rw', 'rewind')), say('ok')]);
  const agent = await loop.agent();
  await agent.prompt('find the port');
  const { error, text } = answered(agent);
  assert.equal(error.code, 'EMPTY_REGION');
  assert.match(text, /report stands.*fresh checkpoint/);
  assert.equal(loop.adapter.of('report').length, 1);
});

test('1.8, C3: a mark with nothing behind it stays active', async (t) => {
  const loop = await loopOf(t, [MARK, FOLD, LOOK, act(call('rw', 'rewind')), say('ok')]);
  const agent = await loop.agent();
  await agent.prompt('find the port');
  assert.equal(answered(agent).isError, false);
});

test('1.8: a mark that its own service calls folded is folded, report or not', async (t) => {
  const scene = await sceneOf(t);
  scene.mark({ foldedAt: 1 });
  scene.look('c1');
  scene.rewind();
  const { code, message } = await scene.refused();
  assert.equal(code, 'EMPTY_REGION');
  assert.match(message, /folded already/);
  assert.deepEqual(scene.provider.told, []);
});

test('3.6: cancelled after the commit, the harness says aborted, and the next rewind says that the report stands', async (t) => {
  const loop = await loopOf(t, [MARK, LOOK, FOLD, act(call('rw', 'rewind')), say('ok')]);
  const agent = await loop.agent();
  const complete = loop.ctx.checkpoint.completeFold.bind(loop.ctx.checkpoint);
  loop.ctx.checkpoint.completeFold = async (...args) => {
    agent.agent.cancel({ kind: 'user' });
    return complete(...args);
  };
  assert.equal((await agent.prompt('find the port')).reason.kind, 'aborted');
  assert.deepEqual([answered(agent).isError, answered(agent).error?.code], [true, 'ABORTED']);
  assert.equal(agent.surface().filter(({ data }) => rewind.isRewindReportSource(data.source)).length, 1);
  await agent.prompt('go on');
  assert.equal(answered(agent).error.code, 'EMPTY_REGION');
  assert.match(answered(agent).text, /report stands/);
});

test('3.6: a cancelled fold tells the model who cancelled, and that nothing was changed', async (t) => {
  const loop = await loopOf(t, [MARK, LOOK, FOLD], { report: [say('half', { hang: true })] });
  const agent = await loop.agent();
  const turn = agent.prompt('find the port');
  await until(() => loop.adapter.of('report').length > 0);
  agent.agent.cancel({ kind: 'user' });
  assert.equal((await turn).reason.kind, 'aborted');
  assert.match(answered(agent).text, /aborted|cancelled \(user\)/);
  assert.doesNotMatch(answered(agent).text, /\[object/);
});

test('4.1: a call without an agent is refused in a sentence', async (t) => {
  const loop = await loopOf(t, []);
  const { signal } = new AbortController();
  const result = await loop.ctx.tools.execute({ callId: 'c1', name: 'rewind', arguments: {}, signal });
  assert.equal(result.isError, true);
  assert.match(result.error.message, /`rewind` folds the session of the agent that calls it/);
});

test('4.5: without a provider the tool is there and says which row to add', async (t) => {
  const loop = await loopOf(t, [FOLD, say('ok')], { plugins: [] });
  const agent = await loop.agent();
  await agent.prompt('find the port');
  const { error, text } = answered(agent);
  assert.equal(error.code, 'NO_CHECKPOINT');
  assert.match(text, /@dpskh\/tool-rewind\/checkpoint/);
  assert.match(text, /cordis\.patch\.yml/);
});

test('4.4: prompt, description and guard use the configured names, and say when to mark', async (t) => {
  const config = { toolName: 'fold_up', checkpointToolName: 'set_mark' };
  const loop = await loopOf(t, [say('hello')], { config, plugins: [[checkpoint, { toolName: 'set_mark', rewindToolName: 'fold_up' }]] });
  const agent = await loop.agent();
  await agent.prompt('hi');
  const { system, tools } = loop.adapter.of('main')[0].options;
  assert.match(system, /before you read, search or try several things whose details will not matter/);
  assert.match(system, /`set_mark`/);
  assert.match(system, /`fold_up`/);
  assert.doesNotMatch(system, /`rewind`|`checkpoint`|\{\{/);
  const { description } = tools.find(({ name }) => name === 'fold_up');
  assert.match(description, /`set_mark`/);
  assert.equal(tools.some(({ name }) => name === 'rewind' || name === 'checkpoint'), false);
});
