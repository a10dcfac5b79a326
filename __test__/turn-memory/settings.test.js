/** Every setting: its default, its range, and that it does what its line says. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../plugin/turn-memory/index.js';
import { act, always, call, say } from '../support/script.js';
import { textOf } from '../support/wire.js';
import {
  LONG, MATCH, accounts, callTool, checkpoints, landed, lastText, segmentsOf, stage, until, work,
} from './stage.js';

const DEFAULTS = {
  summaryEngine: 'replay',
  roundTimeoutMs: 180_000,
  maxRounds: 3,
  maxAttemptsPerTurn: 3,
  maxWorkingChars: 2000,
  minShrinkRatio: 0.9,
  toolResultCapChars: 20_000,
  maxRawChars: 500_000,
  recallTimeoutMs: 180_000,
  recallRecentWindowMs: 7_200_000,
  maxRecallDepth: 4,
  cheapProvider: 'deepseek-official',
  cheapModel: 'deepseek-chat',
  cheapMaxTokens: 8192,
  keepRawCopy: false,
  debug: false,
  prefixDumpDir: '',
};

test('every setting has the default that is written down', () => {
  assert.deepEqual(Config({}), DEFAULTS);
  assert.deepEqual(Config(undefined), DEFAULTS);
});

test('a value out of range, of another type or of an unknown name is an error that names it', () => {
  const bad = [
    ['summaryEngine', ['replays', '', 5]],
    ['roundTimeoutMs', [999, -1, 1.5, NaN, Infinity, 2 ** 31, '180000']],
    ['recallTimeoutMs', [999, 1.5, NaN, 2 ** 31]],
    ['maxRounds', [0, 11, 1.5]],
    ['maxAttemptsPerTurn', [0, 11, NaN]],
    ['maxWorkingChars', [99, 20_001, 150.5]],
    ['minShrinkRatio', [0, -0.1, 1.01, NaN, '0.5']],
    ['toolResultCapChars', [0, -1, 0.5, 2 ** 32]],
    ['maxRawChars', [999, NaN, 2 ** 32]],
    ['recallRecentWindowMs', [-1, 0.5, Infinity]],
    ['maxRecallDepth', [0, 1.5]],
    ['cheapMaxTokens', [0, -5, 1.5]],
    ['cheapProvider', [5, '']],
    ['cheapModel', [false, '']],
    ['keepRawCopy', ['yes', 1]],
    ['debug', ['false']],
    ['prefixDumpDir', [5, '..', '../dumps', '.']],
  ];
  assert.deepEqual(bad.map(([key]) => key).toSorted(), Object.keys(DEFAULTS).toSorted());
  for (const [key, values] of bad) {
    for (const value of values) {
      assert.throws(() => Config({ [key]: value }), new RegExp(`turn-memory config: .*${key}`), `${key}: ${value}`);
    }
  }
  assert.throws(() => Config({ roundTimeout: 5000 }), /roundTimeout is not a setting; did you mean roundTimeoutMs\?/);
  assert.throws(() => Config({ minShrinkRatio: 0 }), /minShrinkRatio must be above 0 and at most 1 but is 0/);
  assert.equal(Config({ minShrinkRatio: 1, recallRecentWindowMs: 0, cheapProvider: '', cheapModel: '' }).minShrinkRatio, 1);
});

test('maxWorkingChars bounds what is asked for and what is taken', async (t) => {
  const loop = await stage(t, {
    config: { maxWorkingChars: 100, maxAttemptsPerTurn: 2 },
    steps: { main: [...work('one'), say('x')], summary: [accounts(() => 'y'.repeat(101)), accounts(() => 'y'.repeat(100))] },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  await until(() => loop.adapter.of('summary').length === 1);
  await agent.prompt('again');
  assert.equal(segmentsOf(await landed(agent, 1))[0][2], 'y'.repeat(100));
  assert.match(lastText(loop.adapter.of('summary')[0]), /at most 100 characters each/);
});

test('minShrinkRatio decides what is small enough', async (t) => {
  const { loop, agent } = await withRatio(t, 0.01);
  await sleep(50);
  assert.equal(loop.adapter.of('summary').length, 0, 'even the shortest checkpoint is above a hundredth');
  const wordy = await withRatio(t, 0.2, accounts(() => 'word '.repeat(200)));
  await until(() => wordy.loop.adapter.of('summary').length === 1);
  await sleep(50);
  assert.deepEqual([...checkpoints(agent), ...checkpoints(wordy.agent)], [], 'too long an account does not land');
  const { text } = await callTool(wordy.loop, wordy.agent, 'compact_turn', { turn: 1 });
  assert.match(text, /Its last outcome was NO_SHRINK\./);
});

async function withRatio(t, minShrinkRatio, summary = accounts()) {
  const loop = await stage(t, {
    config: { minShrinkRatio, maxAttemptsPerTurn: 1 }, steps: { main: work('one'), summary: always(summary) },
  });
  const agent = await loop.agent();
  await agent.prompt('first');
  return { loop, agent };
}

test('toolResultCapChars cuts results in drafts', async (t) => {
  const loop = await stage(t, { config: { toolResultCapChars: 100 }, steps: { main: work('one'), summary: [accounts()] } });
  const agent = await loop.agent();
  await agent.prompt('first');
  await landed(agent, 1);
  assert.match(lastText(loop.adapter.of('summary')[0]), /<working:1> TO WRITE: calls of read, (1|2)\d\d characters/);
});

test('maxRecallDepth bounds the fork that answers', async (t) => {
  for (const [maxRecallDepth, expected] of [[1, /^Error: RECALL_START_FAILED: .*depth/], [2, /^Here\.$/]]) {
    const loop = await stage(t, {
      config: { maxRecallDepth },
      match: { ...MATCH, child: ({ options }) => options.messages.some(({ content }) => content[0].text === 'child task') },
      steps: {
        main: work('one'), summary: always(say('no')), question: [say('Here.')],
        child: [act([call('e', 'expand_turn', { turn: 1, question: 'q' })]), say('done')],
      },
    });
    const agent = await loop.agent();
    await agent.prompt('first');
    const run = await loop.ctx.subagents.start('fork', {
      prompt: [{ type: 'text', text: 'child task' }], parent: agent.agent, signal: new AbortController().signal,
    });
    await run.result;
    const answer = run.localAgent.session.events.findLast(({ type }) => type === 'tool/result').data.message.content[0];
    assert.match(textOf(answer.content), expected, `${maxRecallDepth}`);
    await run.dispose();
  }
});

test('prefixDumpDir collects every landing with its neighbours, in one file a session', async (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'turn-memory-dump-'));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const prefixDumpDir = join(parent, 'dumps');
  const loop = await stage(t, {
    config: { prefixDumpDir }, steps: { main: [...work('one'), ...work('two')], summary: always(accounts()) },
  });
  const agent = await loop.agent({ id: 'odd/..\\id: ü' });
  await agent.prompt('first');
  const first = await landed(agent, 1);
  await agent.prompt('second');
  const second = await landed(agent, 2);
  const path = join(prefixDumpDir, 'request-prefix-odd_.._id_.txt');
  const divider = '='.repeat(100);
  await until(() => existsSync(path) && readFileSync(path, 'utf8').includes(divider), 'both blocks');
  const [one, two] = readFileSync(path, 'utf8').split(`\n${divider}\n\n`);
  assert.match(one, /^time: \d{4}-.*\nsession: odd\/\.\.\\id: ü\nmode: replay\n/);
  assert.match(one, new RegExp(`\\ncheckpoint: seq ${first.seq}, turn 1\\nnodes: 5, span: ${first.sourceEventSeqs[0]} to ${first.sourceEventSeqs.at(-1)}, next: none\\n`));
  assert.match(one, /--- kept before \(seq \d+\) ---\nfirst\n/);
  assert.ok(one.includes(`--- checkpoint (seq ${first.seq}) ---\n${textOf(first.data.content)}\n--- next (seq none) ---\n(none)\n`));
  assert.match(two, new RegExp(`\\ncheckpoint: seq ${second.seq}, turn 2\\n`));
  assert.match(two, /--- kept before \(seq \d+\) ---\nsecond\n/);

  const orphan = join(parent, 'not', 'there');
  const other = await stage(t, { config: { prefixDumpDir: orphan }, steps: { main: work('one'), summary: always(accounts()) } });
  const lost = await other.agent();
  await lost.prompt('first');
  await landed(lost, 1);
  await until(() => other.logs().some(({ text }) => /a file could not be written/.test(text)), 'the warning');
  assert.equal(existsSync(join(parent, 'not')), false, 'a folder is made only below an existing one');
});

test('keepRawCopy keeps the replaced turn under $DSH_HOME, and only a replaced one', async (t) => {
  const loop = await stage(t, {
    config: { keepRawCopy: true }, steps: { main: [...work('one'), say('small')], summary: always(accounts()) },
  });
  const agent = await loop.agent({ id: 'kept' });
  await agent.prompt('first');
  await landed(agent, 1);
  await agent.prompt('second');
  const folder = join(loop.home, 'turn-memory', 'raw');
  await until(() => existsSync(folder) && readdirSync(folder).length > 0, 'the copy');
  assert.deepEqual(readdirSync(folder), ['kept-turn-1.md']);
  const copy = () => readFileSync(join(folder, 'kept-turn-1.md'), 'utf8');
  await until(() => copy().endsWith('### Assistant\none'), 'the whole copy');
  assert.match(copy(), /^### User\nfirst\n\n### Assistant reasoning\nlet me look\n/);
  assert.ok(copy().includes(LONG));
});

test('without debug, dump and copies nothing is written at all', async (t) => {
  const loop = await stage(t, { steps: { main: work('one'), summary: always(accounts()) } });
  const agent = await loop.agent();
  await agent.prompt('first');
  await landed(agent, 1);
  await sleep(50);
  assert.deepEqual(readdirSync(loop.home), []);
});

test('the guidance is one constant section: short, without interpolation, the same for every agent', async (t) => {
  const loop = await stage(t, { steps: { main: [say('a'), say('b')] } });
  for (const text of ['one', 'two']) await (await loop.agent()).prompt(text);
  const [first, second] = loop.adapter.of('main').map(({ options }) => options.system);
  assert.equal(first, second);
  const section = first.slice(first.indexOf('Turn memory:'));
  assert.ok(first.includes('Turn memory:') && section.length < 1200, `${section.length}`);
  assert.doesNotMatch(section, /\{\{/);
  for (const word of ['<turn-summary>', 'expand_turn', 'raw', 'compact_turn', 'later']) assert.ok(section.includes(word), word);
});

test('the skills are there once the plugin is, whether the registry comes before it or not at all', async (t) => {
  const loop = await stage(t);
  const listed = await loop.ctx.skills.list();
  assert.deepEqual(listed.map(({ name, source }) => [name, source]), [
    ['dsh-session-log-inspect', 'runtime'], ['dsh-turn-memory', 'runtime'], ['dsh-web-restart', 'runtime'],
  ]);
  for (const { name } of listed) {
    const { content, description } = await loop.ctx.skills.get(name);
    assert.ok(content.length > 400 && description.length > 20, name);
    assert.ok(!content.includes(homedir()) && !/\/(Users|home|root|work)\//.test(content), `${name} names no machine's path`);
  }
  const body = (await loop.ctx.skills.get('dsh-turn-memory')).content;
  for (const key of Object.keys(DEFAULTS)) assert.ok(body.includes(key), `the skill explains ${key}`);
  const without = await stage(t, { skills: false });
  assert.equal(without.ctx.get('skills'), undefined);
  assert.ok(without.ctx.tools.get('expand_turn'));
});
