/** Reports in the real loop: what lands, what its source keeps, what a second fold makes of it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Service } from '@deepseek-ai/cordis';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import * as rewind from '../../index.js';
import { createLoop } from '../support/loop.js';
import { markCall } from '../support/marks.js';
import { act, always, call, say } from '../support/script.js';
import { bashTool, readTool } from '../support/tools.js';

const PROSE = '## Findings\nThe bug is in `src/app.ts`, not in `src/apq.ts`. It ends with "TypeError: x is not a function".';
const FAILING = `${'a line of output\n'.repeat(80)}[stderr]\nTypeError: x is not a function\n[exit code: 1]`;

/** An exploration: two parallel calls, a commit, the fold. */
const exploration = (mark, fold) => [
  act(markCall(mark, 'Find the bug')),
  act([call(`${mark}-1`, 'read', { path: 'src/app.ts' }), call(`${mark}-2`, 'bash', { command: 'npm test' })]),
  act(call(`${mark}-3`, 'bash', { command: 'git commit -m "Mend it"' })),
  act(call(fold, 'rewind')),
];

async function withLoop(config, steps, body) {
  const loop = await createLoop({
    plugins: [[checkpoint], [rewind, config]],
    tools: [readTool(), bashTool({ 'npm test': FAILING, '*': 'done\n'.repeat(60) })],
    steps: { main: steps.main, report: steps.report ?? [] },
  });
  try {
    await body(loop, await loop.agent());
  } finally {
    await loop.dispose();
  }
}

const reportsOf = (agent) => agent.session.events.filter(({ type, data }) => type === 'user/message' && data.source.plugin === 'rewind');
const textOf = ({ data }) => data.content[0].text;

test('a landed report has its frame, its prose, what is unverified, and the ledger', async () => {
  const main = [...exploration('cp', 'rw'), say('done')];
  const report = [say(PROSE, { usage: { input: 40, output: 20, cached: 900 } })];
  await withLoop({}, { main, report }, async (loop, agent) => {
    await agent.prompt('look around');
    const [landed] = reportsOf(agent);
    const text = textOf(landed);
    const [frame] = text.split('\n');
    assert.match(frame, /^\[rewind report of mark 1\] 2 steps folded, log seq \d+ to \d+; the checkpoint is complete\.$/);
    assert.ok(frame.length <= 120);
    for (const line of [
      'Unverified (found nowhere in the folded steps or before them): src/apq.ts',
      '### Read', '### Commands and calls', '### Errors', '### Effects outside the session', '### Where it stopped',
    ]) assert.ok(text.split('\n').includes(line), line);
    const seqOf = (id) => agent.results().find(({ callId }) => callId === id).seq;
    assert.ok(text.includes(`- src/app.ts [s${seqOf('cp-1')}]`));
    assert.ok(text.includes(`- npm test → exit 1 [s${seqOf('cp-2')}]`));
    assert.ok(text.includes(`> [s${seqOf('cp-2')}] TypeError: x is not a function`));
    assert.doesNotMatch(text, /call `?rewind/i);

    const { source } = landed.data;
    assert.deepEqual(source.unverified, ['src/apq.ts']);
    assert.deepEqual(source.usage, { inputTokens: 40, outputTokens: 20, cacheReadTokens: 900 });
    assert.equal(source.report, 'model');
    assert.equal(source.reportChars, text.length);
    assert.ok(source.reportTokens < source.foldedTokens);
    const command = source.ledger.lines.find(({ what }) => what === 'npm test');
    assert.deepEqual(command, { kind: 'command', what: 'npm test', outcome: { exit: 1 }, seqs: [seqOf('cp-2')], times: 1 });
    assert.equal(agent.fault(), undefined);
  });
});

test('claimCheck off lists nothing', async () => {
  const main = [...exploration('cp', 'rw'), say('done')];
  await withLoop({ claimCheck: 'off' }, { main, report: [say(PROSE)] }, async (loop, agent) => {
    await agent.prompt('look around');
    const [landed] = reportsOf(agent);
    assert.doesNotMatch(textOf(landed), /Unverified/);
    assert.equal(landed.data.source.unverified, undefined);
  });
});

test('a receipt asks no model and is the same bytes for the same region', async () => {
  const texts = [];
  for (let run = 0; run < 2; run += 1) {
    await withLoop({ report: 'receipt' }, { main: [...exploration('cp', 'rw'), say('done')] }, async (loop, agent) => {
      await agent.prompt('look around');
      assert.equal(loop.requests.filter(({ lane }) => lane === 'report').length, 0);
      const [landed] = reportsOf(agent);
      assert.equal(landed.data.source.report, 'receipt');
      assert.equal(landed.data.source.usage, undefined);
      assert.match(textOf(landed), /by code alone/);
      assert.match(textOf(landed), /## Objective\n> Find the bug/);
      assert.match(agent.results().at(-1).text, /into a report made by code alone/);
      texts.push(textOf(landed));
    });
  }
  assert.equal(texts[0], texts[1]);
});

test('a failing route rejects by default and lands a receipt where that is configured', async () => {
  const report = always({ status: 500, error: 'down' });
  await withLoop({}, { main: [...exploration('cp', 'rw'), say('done')], report }, async (loop, agent) => {
    await agent.prompt('look around');
    assert.equal(reportsOf(agent).length, 0);
    assert.equal(agent.results().find(({ callId }) => callId === 'rw').error.code, 'SUMMARY_FAILED');
  });
  await withLoop({ onSummaryFailure: 'receipt' }, { main: [...exploration('cp', 'rw'), say('done')], report }, async (loop, agent) => {
    await agent.prompt('look around');
    const [landed] = reportsOf(agent);
    assert.equal(landed.data.source.report, 'receipt');
    assert.match(agent.results().find(({ callId }) => callId === 'rw').text, /Warning: The model gave no report \(.*down.*\)/);
  });
});

test('spent retries land a receipt too', async () => {
  const config = { onSummaryFailure: 'receipt', maxSummarizationRetries: 1 };
  await withLoop(config, { main: [...exploration('cp', 'rw'), say('done')], report: [say('   '), say('')] }, async (loop, agent) => {
    await agent.prompt('look around');
    assert.equal(reportsOf(agent)[0].data.source.report, 'receipt');
    assert.equal(loop.requests.filter(({ lane }) => lane === 'report').length, 2);
  });
});

test('a fold that could save too little is refused before any request, with the numbers', async () => {
  await withLoop({ minSavings: 100_000 }, { main: [...exploration('cp', 'rw'), say('done'), say('on')] }, async (loop, agent) => {
    await agent.prompt('look around');
    const { error, text } = agent.results().find(({ callId }) => callId === 'rw');
    assert.equal(error.code, 'SHRINK');
    assert.match(text, /about [\d,]+ tokens.*100,000.*go on/s);
    assert.equal(loop.requests.filter(({ lane }) => lane === 'report').length, 0);
    assert.equal(reportsOf(agent).length, 0);
  });
});

/** A checkpoint service whose one mark the test sets. */
class Marks extends Service {
  constructor(ctx) {
    super(ctx, 'checkpoint');
  }

  async latestMark() {
    return this.mark;
  }

  async hasActive() {
    return false;
  }

  async completeFold() {}
}

test('a later fold over a report takes its ledger from the source, once', async () => {
  const work = (id) => [act(call(id, 'bash', { command: 'npm test' })), say(`Saw it fail (${id}).`)];
  const loop = await createLoop({
    before: (ctx) => ctx.plugin(Marks),
    plugins: [[rewind, { report: 'receipt' }]],
    tools: [bashTool({ 'npm test': FAILING })],
    steps: { main: [...work('one'), ...work('two')] },
  });
  try {
    const agent = await loop.agent();
    const { signal } = new AbortController();
    await agent.prompt('look around');
    const logLength = agent.surface().find(({ type }) => type === 'assistant/message').seq;
    for (const id of [1, 2]) {
      loop.ctx.checkpoint.mark = { id, logLength };
      await loop.ctx.rewind.rewind(agent.agent, signal);
      if (id === 1) await agent.prompt('and again');
    }
    const ledgers = reportsOf(agent).map(({ data }) => data.source.ledger.lines);
    const testsIn = (lines) => lines.filter(({ kind, what }) => kind === 'command' && what === 'npm test').map(({ times }) => times);
    assert.deepEqual(ledgers.map(testsIn), [[1], [2]]);
    const told = ledgers[1].filter(({ kind }) => kind === 'told').map(({ what }) => what);
    assert.deepEqual(told, ['Saw it fail (one).', 'Saw it fail (two).']);
    assert.equal(agent.fault(), undefined);
  } finally {
    await loop.dispose();
  }
});

test('auto writes in the language of the persons, whatever the tools print', async () => {
  const main = [...exploration('cp', 'rw'), say('好了')];
  await withLoop({ report: 'receipt', reportLanguage: 'auto' }, { main }, async (loop, agent) => {
    await agent.prompt('请看看 src/app.ts 里的问题');
    const [landed] = reportsOf(agent);
    assert.match(textOf(landed), /^\[rewind report of mark 1\] 已折叠 2 步/);
    assert.match(textOf(landed), /### 命令与调用\n- npm test → 退出码 1/);
    assert.equal(landed.data.source.language, 'zh');
  });
});

test('configured tools are in the ledger, and an entry that cannot be is refused at load', async () => {
  const config = { report: 'receipt', ledgerTools: { read: { act: 'effect', argument: 'path' } } };
  await withLoop(config, { main: [...exploration('cp', 'rw'), say('done')] }, async (loop, agent) => {
    await agent.prompt('look around');
    assert.match(textOf(reportsOf(agent)[0]), /### Effects outside the session\n- read: src\/app\.ts → ok/);
  });
  assert.throws(() => rewind.Config({ ledgerTools: { x: { act: 'dance' } } }), /ledgerTools/);
  assert.throws(() => rewind.Config({ ledgerTools: { x: { act: 'read', argment: 'p' } } }), /argment is not a setting/);
});
