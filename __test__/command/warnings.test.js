/** What a person is told of a fold that cannot work, before and when it is asked for. */
import assert from 'node:assert/strict';
import test from 'node:test';
import * as rewind from '../../index.js';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import { createLoop } from '../support/loop.js';
import { act, call, say } from '../support/script.js';
import { readTool } from '../support/tools.js';

const ROUTE = { summarizationProvider: 'nope', summarizationModel: 'some-model' };
const UNMOUNTED = 'summarizationProvider is "nope", and no provider of that name is mounted (mounted: scripted)';
const BIG = { a: 'fn a() {}\n'.repeat(400) };

/** A mark, one look of `text`, an answer; the guard's word is answered too. */
async function explored(t, { config = {}, row = {}, files = BIG, report = [say('It is a.')] } = {}) {
  const loop = await createLoop({
    tools: [readTool(files)],
    plugins: [[rewind, config], [checkpoint, row]],
    steps: {
      main: [
        act(call('cp', row.toolName ?? 'checkpoint')), act(call('r1', 'read', { path: 'a' })), say('It is a.'), say('As I said.'),
      ],
      report,
    },
  });
  t.after(() => loop.dispose());
  const agent = await loop.agent();
  await agent.prompt('what is it?');
  const said = async (line) => (await agent.command(line)).result;
  return { loop, agent, said };
}

test('a provider that is not mounted: status and preview say so, and the fold names key, value and what there is', async (t) => {
  const { loop, said } = await explored(t, { config: ROUTE });
  assert.ok((await said('/rewind')).text.endsWith(`\nWarning: ${UNMOUNTED}.`));
  const refusal = `No report can be asked for: ${UNMOUNTED}. Set summarizationProvider and summarizationModel of the row `
    + "tool-rewind to a route that is there, or leave both out to use the session's own. Nothing was changed and the mark "
    + 'stays active.';
  assert.ok((await said('/rewind preview')).text.endsWith(`\nIt would be refused (NO_ROUTE): ${refusal}`));
  const requests = loop.requests.length;
  assert.deepEqual(await said('/rewind fold'), { kind: 'error', text: refusal });
  assert.equal(loop.requests.length, requests, 'nobody is asked');
});

test('one that is mounted later is taken as if it had always been there', async (t) => {
  const { loop, said } = await explored(t, { config: ROUTE });
  loop.ctx.llm.registerAdapter(['nope'], loop.adapter);
  assert.doesNotMatch((await said('/rewind')).text, /Warning/);
  assert.match((await said('/rewind preview')).text, /\nIt asks nope\/some-model \(the configured route\) for a report/);
  assert.equal((await said('/rewind fold')).kind, 'success');
});

test('with onSummaryFailure receipt code makes the report, preview says so, and the result says why', async (t) => {
  const { said } = await explored(t, { config: { ...ROUTE, onSummaryFailure: 'receipt' } });
  assert.match((await said('/rewind preview')).text, /\nIt asks no model: code alone makes the report\.$/);
  const { kind, text } = await said('/rewind fold');
  assert.equal(kind, 'success');
  assert.ok(text.includes(`Warning: The model gave no report (${UNMOUNTED}), so code alone made this one.`), text);
});

test('with report receipt no model is asked, so no route is missed', async (t) => {
  const { said } = await explored(t, { config: { ...ROUTE, report: 'receipt' } });
  assert.doesNotMatch((await said('/rewind')).text, /Warning/);
  assert.match((await said('/rewind preview')).text, /\nIt asks no model: code alone makes the report\.$/);
  assert.match((await said('/rewind fold')).text, /into a report made by code alone/);
});

test('a configured route that fails is named beside the provider\'s own words; the session\'s own is not', async (t) => {
  const configured = { summarizationProvider: 'scripted', summarizationModel: 'other' };
  const report = [{ status: 404, error: 'no such model' }];
  const named = await explored(t, { config: configured, report });
  const { text } = await named.said('/rewind fold');
  assert.match(text, /no such model.*; asked was scripted\/other, as summarizationProvider and summarizationModel say/);
  const own = await explored(t, { report });
  assert.doesNotMatch((await own.said('/rewind fold')).text, /summarizationProvider/);
});

/** The line of a preview that tells how long a report may be. */
const room = (text) => /A report of more than about ([\d,]+) characters? would not make the context smaller and would be refused \(SHRINK\)(.*)$/
  .exec(text);

test('preview tells the longest report that would land, and says where hardly any is that short', async (t) => {
  const big = await explored(t);
  const [, chars, rest] = room((await big.said('/rewind preview')).text);
  assert.ok(Number(chars.replaceAll(',', '')) > 3_000, chars);
  assert.equal(rest, '.');
  const small = await explored(t, { files: { a: 'fn a() {}' } });
  const [, least, advice] = room((await small.said('/rewind preview')).text);
  assert.ok(Number(least) > 0 && Number(least) < 300, least);
  assert.equal(advice, ': hardly any report is that short, so go on, or drop the mark.');
});

test('a report of just that length lands, and one longer by a token does not', async (t) => {
  for (const [more, kind] of [[0, 'success'], [4, 'error']]) {
    const scene = await explored(t, { files: { a: 'fn a() {}' }, report: [] });
    const [, most] = room((await scene.said('/rewind preview')).text);
    scene.loop.script.push('report', say('w'.repeat(Number(most) + more)));
    const result = await scene.said('/rewind fold');
    assert.equal(result.kind, kind, `${most}: ${result.text}`);
    if (kind === 'error') assert.match(result.text, /would not make the context smaller/);
  }
});

const NAMES = [
  [{ checkpointToolName: 'mark' }, {},
    'checkpointToolName of the row tool-rewind is "mark", and toolName of the row tool-rewind-checkpoint is "checkpoint"'],
  [{}, { toolName: 'mark' },
    'checkpointToolName of the row tool-rewind is "checkpoint", and toolName of the row tool-rewind-checkpoint is "mark"'],
  [{ toolName: 'fold' }, {},
    'toolName of the row tool-rewind is "fold", and rewindToolName of the row tool-rewind-checkpoint is "rewind"'],
  [{ toolName: 'fold', checkpointToolName: 'mark' }, { toolName: 'set' },
    'checkpointToolName of the row tool-rewind is "mark", and toolName of the row tool-rewind-checkpoint is "set"; '
      + 'toolName of the row tool-rewind is "fold", and rewindToolName of the row tool-rewind-checkpoint is "rewind"'],
];

for (const [config, row, faults] of NAMES) {
  test(`two rows that disagree: ${JSON.stringify(config)} and ${JSON.stringify(row)}`, async (t) => {
    const { loop, said } = await explored(t, { config, row });
    const sentence = `Two rows disagree on the name of a tool, so the model is told of one that is not there: ${faults}. `
      + "Set both to the same name in the profile's cordis.patch.yml.";
    const logged = loop.logs().filter(({ type, text }) => type === 'error' && text.includes(sentence));
    assert.equal(logged.length, 1, JSON.stringify(loop.logs()));
    assert.ok((await said('/rewind')).text.endsWith(`\nWarning: ${sentence}`));
    assert.ok((await said('/rewind fold')).text.endsWith(` Warning: ${sentence}`));
    const fresh = await loop.agent();
    const { text } = (await fresh.command('/rewind fold')).result;
    assert.ok(text.startsWith('No checkpoint is set in this session') && text.endsWith(sentence), text);
  });
}

test('two rows that agree, and a provider that tells no names, are left in peace', async (t) => {
  const names = { config: { toolName: 'fold', checkpointToolName: 'mark' }, row: { toolName: 'mark', rewindToolName: 'fold' } };
  const { loop, said } = await explored(t, names);
  assert.doesNotMatch((await said('/rewind')).text, /Warning/);
  assert.deepEqual(loop.logs().filter(({ type }) => type === 'error'), []);
  const foreign = await createLoop({ plugins: [[rewind, { checkpointToolName: 'mark' }]] });
  t.after(() => foreign.dispose());
  foreign.ctx.provide('checkpoint', { latestMark: async () => undefined, hasActive: async () => false, completeFold: async () => {} });
  const agent = await foreign.agent();
  assert.equal((await agent.command('/rewind')).result.text, 'No mark in this session yet. A model sets one with `mark`.');
});

/** A session with one look, whose checkpoint service is somebody else's. */
async function served(t, service) {
  const loop = await createLoop({
    before: (ctx) => ctx.provide('checkpoint', service),
    tools: [readTool(BIG)],
    plugins: [[rewind, {}]],
    steps: { main: [act(call('r1', 'read', { path: 'a' })), say('It is a.')] },
  });
  t.after(() => loop.dispose());
  const agent = await loop.agent();
  await agent.prompt('what is it?');
  return async (line) => (await agent.command(line)).result;
}

test('a mark that no fold can start from is called so, not active', async (t) => {
  const service = { latestMark: async () => service.mark, hasActive: async () => false, completeFold: async () => {} };
  const said = await served(t, service);
  for (const [mark, status, preview] of [
    [null, /^No mark in this session yet\./, /^Nothing to fold: no mark/],
    [7, /^No mark that can be folded\. The checkpoint service answered 7, which is no mark\.$/, /^A fold of the latest mark would be refused \(EMPTY_REGION\)/],
    [{}, /^No mark that can be folded\. .* whose id is undefined/, /^A fold of the latest mark would be refused/],
    [{ id: 1, logLength: 5, sessionId: 'other' }, /^No mark that can be folded\. Mark 1 .* belongs to session other/, /belongs to session other/],
    [{ id: 1, logLength: -1 }, /^Mark 1 cannot be folded: its logLength is -1, and this log has \d+ events\.$/, /^A fold of mark 1 would be refused/],
    [{ id: 1, logLength: 'x' }, /^Mark 1 cannot be folded: its logLength is x,/, /its logLength is x/],
    [{ id: 1, logLength: 1e9 }, /^Mark 1 cannot be folded: its logLength is 1000000000,/, /its logLength is 1000000000/],
    [{ id: 1, logLength: 0 }, /^Mark 1 is active/, /^A fold of mark 1 now takes/],
  ]) {
    service.mark = mark;
    for (const [line, text] of [['/rewind', status], ['/rewind preview', preview]]) {
      const result = await said(line);
      assert.equal(result.kind, 'success', line);
      assert.match(result.text, text);
    }
  }
});

test('an objective stands on one line, whatever a model put into it', async (t) => {
  const mark = { id: 1, logLength: 0, objective: ' find\n\tthe \u001b[31mport\u0007 ' };
  const said = await served(t, { latestMark: async () => mark, hasActive: async () => false, completeFold: async () => {} });
  assert.match((await said('/rewind')).text, /^Mark 1 is active, set just now at s0: find the \[31mport\nSince then: /);
});

test('a checkpoint service that fails is an answer with a next step', async (t) => {
  const fail = async () => {
    throw new Error('disk full');
  };
  const said = await served(t, { latestMark: fail, hasActive: fail, completeFold: fail, discard: fail });
  const told = 'The checkpoint service could not tell the latest mark (disk full), so nothing';
  for (const [line, next] of [
    ['/rewind', 'can be said of it. Ask again later.'],
    ['/rewind preview', 'can be said of it. Ask again later.'],
    ['/rewind fold', 'was folded. The mark stays as it is; fold again later, or go on.'],
    ['/rewind discard', 'was discarded. Ask again later.'],
  ]) {
    assert.deepEqual(await said(line), { kind: 'error', text: `${told} ${next}` }, line);
  }
});
