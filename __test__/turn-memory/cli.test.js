/**
 * Turn memory in the real CLI: three turns in three processes, each taking up the stored session, with
 * everything the profile mounts (strict provider, subagents, skills, checkpoint policy, spill policy).
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { OURS, RUNNER, createCli } from '../support/cli.js';
import { act, call, say } from '../support/script.js';
import { textOf } from '../support/wire.js';
import { toWrite } from './stage.js';

const FILES = {
  'a.txt': `${'a line that nobody needs twice\n'.repeat(80)}needle-alpha-7141\n`,
  'b.txt': `${'another line\n'.repeat(160)}needle-beta-2236\n`,
};
const ROW = { id: 'tool-rewind-turn-memory', name: '@dpskh/tool-rewind/turn-memory' };

/** All text of a request, whatever parts it came in. */
function wordsOf({ messages }) {
  return messages.map(({ content }) => (Array.isArray(content) ? textOf(content) : content ?? ''));
}

const MATCH = {
  summary: (request) => wordsOf(request).at(-1).startsWith('[turn memory] The process of turn'),
  question: (request) => wordsOf(request).some((text) => /^\[turn memory\] Answer|^Below is the record/.test(text)),
};

const account = (request) => say(toWrite(wordsOf(request).at(-1))
  .map((id) => `<working:${id}>\nRead a file in part ${id}.\n</working:${id}>`).join('\n'));

async function prepare(t, steps, config = {}) {
  const cli = await createCli({
    packages: [OURS, RUNNER], files: FILES, match: MATCH, steps, rows: [{ insert: [{ ...ROW, config }] }],
  });
  t.after(() => cli.close());
  return cli;
}

async function drive(cli, script) {
  const { code, stdout, stderr, outcome } = await cli.drive(script);
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(outcome.outcomes.map(({ reason }) => reason?.kind), script.moves.map(() => 'completed'));
  return outcome.session;
}

/** The session of a person; recall children have logs of their own. */
function mainLog(cli, id) {
  const log = cli.logs().find((one) => one.id === id);
  assert.equal(log.fault, undefined);
  return log;
}

function outline({ surface }) {
  return surface.map(({ type, data }) => {
    if (type === 'user/message') {
      const { kind, plugin, turn } = data.source;
      if (kind === 'user') return textOf(data.content);
      return plugin === 'turn-memory' ? `checkpoint ${turn}` : undefined;
    }
    const content = type === 'tool/result' ? data.message.content[0].content : data.message.content;
    return type === 'tool/result' ? 'result' : textOf(content) || 'calls';
  }).filter((words) => words !== undefined);
}

test('three turns by resume: each is summarized by the next process, and both kinds of recall find their turn', async (t) => {
  const held = {};
  /** Lets a turn go on only once the summary that the resume started is in. */
  const afterSummary = (count, step) => async () => {
    await held.cli.provider.waitFor(() => held.cli.provider.of('summary').length === count);
    await sleep(500);
    return step;
  };
  const cli = await prepare(t, {
    main: [
      act([call('r1', 'read', { file_path: 'a.txt' })]), say('It is 7141.'),
      act([call('g2', 'grep', { pattern: 'needle', path: '.' })]), afterSummary(1, act([call('r2', 'read', { file_path: 'b.txt' })])),
      say('And 2236.'),
      act([call('g3', 'glob', { pattern: '*.txt' })]),
      afterSummary(2, act([call('old', 'expand_turn', { turn: 1, question: 'Which file held the number?' })])),
      act([call('new', 'expand_turn', { turn: 2, question: 'Which file held the other number?' })]),
      act([call('raw', 'expand_turn', { turn: 1, mode: 'raw' })]),
      say('Both are known.'),
    ],
    summary: [account, account],
    question: [say('a.txt held it.'), say('b.txt held it.')],
  }, { debug: true });
  held.cli = cli;

  const session = await drive(cli, { moves: [{ prompt: 'find the port' }] });
  assert.equal(cli.provider.of('summary').length, 0, 'a process that ends after its turn starts nothing');
  assert.deepEqual(outline(mainLog(cli, session)), ['find the port', 'calls', 'result', 'It is 7141.']);

  await drive(cli, { resume: session, moves: [{ prompt: 'and the other one' }] });
  assert.deepEqual(outline(mainLog(cli, session)), [
    'find the port', 'checkpoint 1', 'and the other one', 'calls', 'result', 'calls', 'result', 'And 2236.',
  ]);

  await drive(cli, { resume: session, moves: [{ prompt: 'tell me about both' }] });
  const log = mainLog(cli, session);
  assert.deepEqual(outline(log).slice(0, 5), [
    'find the port', 'checkpoint 1', 'and the other one', 'checkpoint 2', 'tell me about both',
  ]);
  const result = (id) => {
    const found = log.events.findLast(({ type, data }) => type === 'tool/result' && data.message.source.callId === id);
    return textOf(found.data.message.content[0].content);
  };
  assert.equal(result('old'), 'a.txt held it.');
  assert.equal(result('new'), 'b.txt held it.');
  assert.match(result('raw'), /^### User\nfind the port\n\n[\s\S]*### Tool call: read\nargs: {"file_path":"a\.txt"}\n\n### Tool result\n/);
  assert.match(result('raw'), /needle-alpha-7141/);
  assert.doesNotMatch(result('raw'), /turn-summary/);

  const [old, recent] = cli.provider.of('question');
  assert.equal(old.body.model, 'deepseek-chat');
  assert.deepEqual(old.tools ?? [], []);
  assert.ok(wordsOf(old).join().includes('needle-alpha-7141'), 'the cheap model reads the record');
  assert.ok(wordsOf(recent).join().includes('needle-beta-2236'), 'the fork still sees the turn');
  assert.match(wordsOf(recent).join('\n'), /<turn-summary turn="1" version="5">/);

  for (const request of cli.provider.of('summary')) {
    assert.ok(request.cachedChars > request.promptChars / 2, 'the replay request hits the prefix of the conversation');
  }
  assert.deepEqual(cli.provider.rejected, []);
  assert.deepEqual(cli.provider.script.left, {});
  const trace = readFileSync(join(cli.home, 'turn-memory-debug.log'), 'utf8');
  assert.deepEqual([...trace.matchAll(/turn=\d+ attempt=\d+ outcome=\w+/g)].map(([line]) => line), [
    'turn=1 attempt=1 outcome=LANDED', 'turn=2 attempt=1 outcome=LANDED',
  ]);
  assert.deepEqual(readdirSync(cli.workspace).toSorted(), ['a.txt', 'b.txt'], 'nothing of it in the workspace');
});

test('a process that dies in mid-summary leaves the turn raw, and the next one summarizes it', async (t) => {
  const held = {};
  const dying = async () => {
    await held.cli.provider.waitFor(() => held.cli.provider.of('summary').length === 1);
    return act([call('r2', 'read', { file_path: 'b.txt' })]);
  };
  const cli = await prepare(t, {
    main: [
      act([call('r1', 'read', { file_path: 'a.txt' })]), say('It is 7141.'),
      dying,
      async () => {
        await held.cli.provider.waitFor(() => held.cli.provider.of('summary').length === 2);
        await sleep(500);
        return act([call('g3', 'glob', { pattern: '*.txt' })]);
      },
      say('done'),
    ],
    summary: [{ text: 'thinking', hang: true }, account],
  });
  held.cli = cli;
  const session = await drive(cli, { moves: [{ prompt: 'find the port' }] });
  const died = await cli.drive({ resume: session, moves: [{ prompt: 'more', at: [{ type: 'tool/result', exit: true }] }] });
  assert.equal(died.code, 9);
  // The log ends in an open call, which the next process closes; the summary left nothing in it.
  const [left] = cli.logs().filter(({ id }) => id === session);
  assert.equal(left.events.some(({ type }) => type === 'compaction/prune'), false);
  // Turn 2 was cut short and holds next to nothing: it is passed over by its size, turn 1 is asked for.
  await drive(cli, { resume: session, moves: [{ prompt: 'go on' }] });
  const log = mainLog(cli, session);
  assert.ok(outline(log).includes('checkpoint 1') || outline(log).includes('checkpoint 2'), outline(log).join(' | '));
  assert.deepEqual(cli.provider.rejected, []);
  assert.equal(existsSync(join(cli.home, 'turn-memory')), false);
});

test('a typo in the row is named at boot', async (t) => {
  const cli = await prepare(t, {}, { maxRawChar: 5 });
  const { code, stderr } = await cli.run('[]');
  assert.equal(code, 1);
  assert.match(stderr, /turn-memory config: maxRawChar is not a setting; did you mean maxRawChars\?/);
});
