/** `/rewind` on the real loop: every sub-command in every state a session can be in. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import * as rewind from '../../index.js';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import * as recall from '../../plugin/recall/index.js';
import { createLoop } from '../support/loop.js';
import { act, call, say } from '../support/script.js';
import { bashTool, readTool } from '../support/tools.js';

const FILES = { 'a.rs': 'fn a() {}\n'.repeat(300), 'b.rs': 'fn b() {}\n'.repeat(300) };
const REPORT = 'a.rs holds a, b.rs holds b.';
const read = (id, path) => call(id, 'read', { path });

async function loopOf(t, steps, more = {}) {
  const loop = await createLoop({
    tools: [readTool(FILES), ...(more.tools ?? [])],
    plugins: more.plugins ?? [[rewind, {}], [checkpoint, {}], [recall, {}]],
    store: more.store,
    steps: { main: steps, report: [say(REPORT, { usage: { input: 900, cached: 800, output: 40 } })] },
  });
  t.after(() => loop.dispose());
  return loop;
}

/** Runs a command line and tells kind and text of what came of it. */
async function command(agent, line) {
  const { result } = await agent.command(line);
  return result;
}

const said = async (agent, line) => (await command(agent, line)).text;

const MARK = act([call('cp', 'checkpoint', { objective: 'who defines b' })]);
const LOOK = [act([read('r1', 'a.rs')]), act([read('r2', 'b.rs')])];

test('no mark: every sub-command says so', async (t) => {
  const loop = await loopOf(t, [say('hello')]);
  const agent = await loop.agent();
  await agent.prompt('hi');
  assert.equal(await said(agent, '/rewind'), 'No mark in this session yet. A model sets one with `checkpoint`.');
  assert.equal(await said(agent, '/rewind status'), await said(agent, '/rewind'));
  assert.match(await said(agent, '/rewind preview'), /^Nothing to fold: no mark in this session\. /);
  assert.equal(await said(agent, '/rewind list'), 'No fold in this session yet.');
  for (const [line, text] of [
    ['/rewind fold', /checkpoint/],
    ['/rewind show', /^Say which, as in \/rewind show 1\. No fold in this session yet\.$/],
    ['/rewind show 3', /^No fold of mark 3\. No fold in this session yet\.$/],
    ['/rewind discard', /^No mark is active, so there is nothing to discard\.$/],
    ['/rewind frobnicate', /^\/rewind frobnicate is not known\. Known: status, preview, fold, list, show, discard, help\.$/],
    ['/rewind constructor', /is not known/],
  ]) {
    const result = await command(agent, line);
    assert.equal(result.kind, 'error', line);
    assert.match(result.text, text);
  }
});

test('a word that a sub-command has no use for is refused, and nothing is done', async (t) => {
  const loop = await loopOf(t, [MARK, ...LOOK, say('b is in b.rs'), say('still')]);
  const agent = await loop.agent();
  await agent.prompt('who defines b?');
  const before = agent.surface().length;
  for (const [line, text] of [
    ['/rewind fold --dry-run', '/rewind fold takes nothing more, so "--dry-run" is not understood. Nothing was done.'],
    ['/rewind discard 2', '/rewind discard takes nothing more, so "2" is not understood. Nothing was done.'],
    ['/rewind Status of mark', '/rewind status takes nothing more, so "of mark" is not understood. Nothing was done.'],
    ['/rewind show 1 20 30', '/rewind show takes MARK [OFFSET], so "30" is not understood. Nothing was done.'],
  ]) {
    assert.deepEqual(await command(agent, line), { kind: 'error', text }, line);
  }
  assert.equal(agent.surface().length, before);
  assert.match(await said(agent, '/rewind'), /^Mark 1 is active/);
});

test('help names every sub-command, one a line', async (t) => {
  const loop = await loopOf(t, []);
  const agent = await loop.agent();
  const help = await said(agent, '/rewind help');
  assert.equal(help, [
    'A fold takes everything since a mark out of the context and puts one report in its place.',
    '  /rewind status              the active mark, and what came since (the default)',
    '  /rewind preview             what a fold now would take, keep and refuse; asks no model',
    '  /rewind fold                fold now, up to the last answer',
    '  /rewind list                all folds of this session',
    "  /rewind show MARK [OFFSET]  a fold's report, and the originals behind it",
    '  /rewind discard             drop the active mark without folding',
    '  /rewind help                this list',
    'A fold stays: the log keeps the originals, and /rewind show reads them.',
  ].join('\n'));
  assert.equal(await said(agent, '/rewind  HELP '), help);
});

test('an active mark: status and preview tell, asking no model and writing nothing', async (t) => {
  const loop = await loopOf(t, [MARK, ...LOOK, say('b.rs does.')]);
  const agent = await loop.agent();
  await agent.prompt('who defines b?');
  const { logLength } = await loop.ctx.checkpoint.latestMark(agent.session.id);
  const seqs = agent.surface().map(({ seq }) => seq);
  const requests = loop.requests.length;

  const status = await said(agent, '/rewind');
  const lines = status.split('\n');
  assert.equal(lines[0], `Mark 1 is active, set just now at s${logLength}: who defines b`);
  const chars = agent.results().filter(({ callId }) => callId !== 'cp')
    .reduce((sum, { text }) => sum + text.length, 0) + '{"path":"a.rs"}{"path":"b.rs"}b.rs does.'.length;
  const nodes = agent.surface().filter(({ seq }) => seq > logLength);
  const guards = nodes.filter(({ type }) => type === 'user/message');
  const extra = guards.reduce((sum, { data }) => sum + data.content[0].text.length, 0);
  const spoken = nodes.filter(({ type }) => type === 'assistant/message').length;
  assert.equal(guards.length, 1, 'the guard spoke once');
  const again = `${(chars + extra).toLocaleString('en-US')} characters, about `;
  assert.ok(lines[1].startsWith(`Since then: ${spoken + 3} nodes, ${again}`), `${lines[1]} / ${again}`);

  const preview = await said(agent, '/rewind preview');
  assert.match(preview, new RegExp(`^A fold of mark 1 now takes ${spoken + 3} nodes \\(s\\d+ to s\\d+\\): ${again}`));
  assert.match(preview, /\n {2}s\d+ to s\d+: \d+ nodes \(read ×2\), become the report\nIt keeps:\n/);
  assert.match(preview, /\n {2}s\d+ assistant: the call that set the mark, with its result\n/);
  assert.match(preview, /\nIt asks scripted\/scripted-1 \(the session's own route\) for a report of at most 1,024 tokens\.\nA report of more /);
  assert.deepEqual(agent.surface().map(({ seq }) => seq), seqs);
  assert.equal(loop.requests.length, requests);
});

test('preview of a fold in two segments with a sibling outside a turn, and of one refused', async (t) => {
  const person = {};
  const steering = bashTool(() => {
    person.steer('only in staging!');
    return 'bash output\n'.repeat(100);
  });
  const loop = await loopOf(t, [
    act([call('cp', 'checkpoint'), read('sibling', 'a.rs')]),
    act([call('b1', 'bash', { command: 'make' })]),
    act([read('r2', 'b.rs')]),
    say('b.rs does.'),
    say('As I said.'),
  ], { tools: [steering] });
  const agent = await loop.agent();
  person.steer = (words) => agent.steer(words);
  await agent.prompt('who defines b?');
  const words = agent.surface().find(({ data }) => data.content?.[0].text === 'only in staging!');
  const sibling = agent.results().find(({ callId }) => callId === 'sibling');
  const preview = await said(agent, '/rewind preview');
  assert.match(preview, /\n {2}s\d+ to s\d+: 2 nodes \(bash\), become one line that points to the report\n/);
  assert.ok(preview.includes(`\n  s${words.seq} user: a person's words\n`), preview);
  assert.ok(preview.includes(`\n  s${sibling.seq} result: results of that call's message are rewritten only inside a turn\n`), preview);

  const folded = await command(agent, '/rewind fold');
  assert.equal(folded.kind, 'success');
  assert.match(folded.text, /^Folded \d+ nodes of mark 1 /);
  assert.match(await said(agent, '/rewind preview'), /^A fold of mark 1 would be refused \(EMPTY_REGION\): /);
});

test('fold, list and show: numbers, the report, the originals, and what was read again', async (t) => {
  const loop = await loopOf(t, [MARK, ...LOOK, say('b.rs does.'), say('As I said.')]);
  const agent = await loop.agent();
  await agent.prompt('who defines b?');
  assert.equal((await command(agent, '/rewind fold')).kind, 'success');
  assert.deepEqual(loop.rejected, []);
  const report = agent.session.events.findLast(({ data }) => data.source?.plugin === 'rewind');
  const { foldedNodes, foldedTokens, reportTokens, start, end } = report.data.source;
  assert.equal(
    await said(agent, '/rewind status'),
    `No active mark: mark 1 is folded; its report stands at s${report.seq}. /rewind list shows all folds.`,
  );
  const entry = (times) => [
    '1 fold in this session:',
    `Mark 1: ${foldedNodes} nodes, s${start} to s${end}, report at s${report.seq}`,
    `  ${foldedTokens.toLocaleString('en-US')} to ${reportTokens} tokens; asked with 1,700 tokens, 800 of them cached, `
      + `answered with 40; read again since: ${times}`,
  ].join('\n');
  assert.equal(await said(agent, '/rewind list'), entry('0 times'));

  const shown = await said(agent, '/rewind show 1');
  const reportText = report.data.content[0].text;
  assert.ok(shown.startsWith(`Report of mark 1, s${report.seq}:\n${reportText}\n\nOriginals:\ns${start} assistant`));
  assert.ok(shown.includes(REPORT) && shown.includes('fn a() {}') && shown.includes('fn b() {}'));
  assert.ok(!shown.includes('[more:'));

  loop.script.push('main', act([read('r3', 'b.rs')]), act([call('q', 'recall', { path: 'a.rs' })]), say('ok'));
  await agent.prompt('look again');
  assert.equal(await said(agent, '/rewind list'), entry('2 times'));
  const unknown = await command(agent, '/rewind show 7');
  assert.deepEqual(unknown, { kind: 'error', text: 'No fold of mark 7. Folds: mark 1.' });
});

test('show goes on where it stopped', async (t) => {
  const big = Object.fromEntries(['a.rs', 'b.rs'].map((name) => [name, `${name} line\n`.repeat(2_000)]));
  const loop = await createLoop({
    tools: [readTool(big)],
    plugins: [[rewind, {}], [checkpoint, {}]],
    steps: { main: [MARK, ...LOOK, say('ok'), say('ok')], report: [say(REPORT)] },
  });
  t.after(() => loop.dispose());
  const agent = await loop.agent();
  await agent.prompt('go');
  await command(agent, '/rewind fold');
  let text = await said(agent, '/rewind show 1');
  let lines = text.split('b.rs line').length - 1;
  for (let offset; (offset = text.match(/\n\[more: \/rewind show 1 (\d+)\]$/)?.[1]) !== undefined;) {
    assert.ok(text.length < 20_500);
    text = await said(agent, `/rewind show 1 ${offset}`);
    assert.ok(!text.startsWith('Report'));
    lines += text.split('b.rs line').length - 1;
  }
  assert.ok(lines >= 1_998 && lines <= 2_000, `${lines}`);
  assert.equal((await command(agent, '/rewind show 1 x')).text, 'The offset x is not a number.');
});

test('a report in a result is a fold like any other', async (t) => {
  const loop = await loopOf(t, [
    act([call('cp', 'checkpoint'), read('s1', 'a.rs'), read('s2', 'b.rs')]),
    act([call('rw', 'rewind')]),
    say('ok'),
  ]);
  const agent = await loop.agent();
  await agent.prompt('go');
  assert.equal(agent.results().find(({ callId }) => callId === 'rw').isError, false);
  const listed = await said(agent, '/rewind list');
  assert.match(listed, /^1 fold in this session:\nMark 1: 2 nodes, s\d+ to s\d+, report at s\d+\n {2}[\d,]+ to [\d,]+ tokens; /);
  const shown = await said(agent, '/rewind show 1');
  assert.ok(shown.startsWith('Report of mark 1, s') && shown.includes('[rewind report of mark 1]'));
  assert.ok(shown.includes('fn a() {}') && shown.includes('fn b() {}'), shown);
});

test('during a turn: looking works, folding is refused with a sentence', async (t) => {
  const seen = {};
  const looking = bashTool(async () => {
    for (const line of ['status', 'preview', 'list', 'help']) {
      seen[line] = await command(seen.agent, `/rewind ${line}`);
    }
    return 'output';
  });
  const loop = await loopOf(t, [
    MARK, ...LOOK, act([call('b', 'bash', { command: 'x' })]), say('done'), say('done'),
  ], { tools: [looking] });
  const agent = await loop.agent();
  seen.agent = agent;
  await agent.prompt('go');
  for (const line of ['status', 'preview', 'list', 'help']) assert.equal(seen[line].kind, 'success', line);
  assert.match(seen.status.text, /^Mark 1 is active/);
  assert.match(seen.preview.text, /\n {2}s\d+ assistant: a call that is not answered yet, or what stands behind one\n/);
  assert.match(seen.preview.text, /\nA turn is running, so \/rewind fold would be refused until it ends; /);
});

test('a fold asked for while the model speaks is refused', async (t) => {
  let release;
  const gate = new Promise((resolve) => {
    release = resolve;
  });
  const loop = await loopOf(t, [MARK, ...LOOK, async () => {
    await gate;
    return say('done');
  }, say('done')]);
  const agent = await loop.agent();
  const turn = agent.prompt('go');
  while (!agent.results().some(({ callId }) => callId === 'r2')) await new Promise((resolve) => setTimeout(resolve, 5));
  const refused = await command(agent, '/rewind fold');
  assert.equal(refused.kind, 'error');
  assert.match(refused.text, /^A turn is running: /);
  release();
  await turn;
  assert.equal((await command(agent, '/rewind fold')).kind, 'success');
});

test('discard drops the mark: the guard is silent, a resume remembers', async (t) => {
  const store = await mkdtemp(join(tmpdir(), 'rewind-command-'));
  t.after(() => rm(store, { recursive: true, force: true }));
  const loop = await loopOf(t, [MARK, ...LOOK, say('done'), say('done')], { store });
  const agent = await loop.agent();
  await agent.prompt('go');
  const guards = () => agent.session.events
    .filter(({ type, data }) => type === 'user/message' && data.source.plugin === 'rewind-guard').length;
  assert.equal(guards(), 1);
  const discarded = await command(agent, '/rewind discard');
  assert.equal(discarded.kind, 'success');
  assert.equal(agent.session.events[discarded.sourceEventSeq].data.meta.rewindMark.id, 1);
  assert.match(discarded.text, /^Mark 1 is discarded\. /);
  assert.equal(await said(agent, '/rewind'), 'No mark in this session yet. A model sets one with `checkpoint`.');
  loop.script.push('main', say('still here'));
  await agent.prompt('and?');
  assert.equal(guards(), 1);

  const { id } = agent.session;
  await loop.ctx.sessions.flush(agent.session);
  await agent.dispose();
  const resumed = await loop.resume(id);
  assert.equal(await loop.ctx.checkpoint.hasActive(id), false);
  assert.match(await said(resumed, '/rewind'), /^No mark/);
});

test('a subagent sees its own marks alone', async (t) => {
  const loop = await loopOf(t, [MARK, ...LOOK, say('done'), say('done')]);
  const parent = await loop.agent();
  await parent.prompt('go');
  const child = await loop.agent({ meta: { origin: 'subagent', delegationDepth: 1, parentSession: parent.session.id } });
  assert.match(await said(child, '/rewind'), /^No mark in this session yet/);
  assert.equal((await command(child, '/rewind fold')).kind, 'error');
  loop.script.push('main', act([call('cp', 'checkpoint')]), act([read('c1', 'a.rs')]), say('ok'), say('ok'));
  await child.prompt('look');
  assert.match(await said(child, '/rewind'), /^Mark 1 is active/);
  assert.equal((await command(child, '/rewind discard')).kind, 'success');
  assert.match(await said(parent, '/rewind'), /^Mark 1 is active/);
});

test('without a checkpoint provider it says which row to add; with a foreign one it discards nothing', async (t) => {
  const loop = await loopOf(t, [], { plugins: [[rewind, {}]] });
  const agent = await loop.agent();
  for (const line of ['status', 'preview', 'fold', 'discard']) {
    const result = await command(agent, `/rewind ${line}`);
    assert.equal(result.kind, 'error');
    assert.match(result.text, /tool-rewind-checkpoint/);
  }
  const mark = { id: 'm', logLength: 0, foldedAt: null };
  loop.ctx.provide('checkpoint', { latestMark: async () => mark, hasActive: async () => true, completeFold: async () => {} });
  const result = await command(agent, '/rewind discard');
  assert.deepEqual([result.kind, /cannot discard marks/.test(result.text)], ['error', true]);
});

test('a composition without commands boots, and the command goes with its plugin', async (t) => {
  const loop = await createLoop({});
  t.after(() => loop.dispose());
  const fiber = await loop.mount(rewind, {});
  const agent = await loop.agent();
  assert.ok(await agent.command('/rewind help'));
  await fiber.dispose();
  assert.equal(await agent.command('/rewind help'), undefined);
});
