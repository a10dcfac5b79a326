/**
 * What a fold does with answers that are no report, and with providers that fail: a plain refusal, nothing
 * changed.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import {
  NEEDLES, REPORT, act, assertSound, carries, fold, look, mark, outline, prepareCli, reportsIn, resultOf,
  runTask,
  say,
} from './scenario.js';

const MAIN = [act(mark()), act(look('c1')), act(fold()), say('done')];
const FOLDED = [
  'person: find the port', 'model m1', 'result m1', 'report 1', 'model w1', 'result w1', 'model "done"',
];
/** The failed fold leaves everything where it was. */
const UNTOUCHED = [
  'person: find the port', 'model m1', 'result m1', 'model c1', 'result c1', 'model w1', 'result w1!',
  'model "done"',
];

function codeOf(log) {
  return log.events.find(({ type, data }) => type === 'tool/result' && data.error)?.data.error.code;
}

/** After a failed fold: the surface as it was, the code in the log, the mark still to be folded. */
function assertRefused({ log, provider }, requests, words) {
  // The mark stays active, so that the guard asks once more before the turn ends.
  assert.deepEqual(outline(log), [...UNTOUCHED, 'guard', 'model "done"']);
  assert.equal(codeOf(log), 'SUMMARY_FAILED');
  assert.match(resultOf(log, 'w1'), words);
  assert.match(resultOf(log, 'w1'), /Nothing was changed and the mark stays active/);
  assert.equal(provider.of('report').length, requests);
  assert.deepEqual(reportsIn(log), []);
  assert.ok(carries(provider.of('main').at(-1), NEEDLES['a.txt']));
}

const STUBBORN = [...MAIN, say('done')];

test('an empty answer is asked for again', async (t) => {
  const { log, provider } = await runTask(t, { main: MAIN, report: [say('  \n '), say(REPORT)] });
  assert.deepEqual(outline(log), FOLDED);
  assert.deepEqual(provider.of('report').map(({ maxTokens }) => maxTokens), [1024, 1024]);
});

test('an answer that was all thinking is asked for again, and given up after the retries', async (t) => {
  const thinking = { reasoning: 'hm '.repeat(50), usage: { input: 900, output: 1024, reasoning: 1024 } };
  const run = await runTask(t, { main: STUBBORN, report: [thinking, thinking, thinking] });
  assertRefused(run, 3, /no visible text \(finish reason stop, 1024 output tokens, 1024 of them reasoning\)/);
});

test('an answer without a single block is an empty one, not a failure of the provider', async (t) => {
  const { log, provider } = await runTask(t, { main: MAIN, report: [say(''), say(REPORT)] });
  assert.deepEqual(outline(log), FOLDED);
  assert.equal(provider.of('report').length, 2);
});

test('a cut answer is asked for again with twice the budget, up to four times', async (t) => {
  const cut = say('## Findings\nThe port is', { finish: 'max-tokens' });
  const { log, provider } = await runTask(t, { main: MAIN, report: [cut, cut, say(REPORT)] });
  assert.deepEqual(outline(log), FOLDED);
  assert.deepEqual(provider.of('report').map(({ maxTokens }) => maxTokens), [1024, 2048, 4096]);
});

test('answers that stay cut are refused with the finish reason', async (t) => {
  const cut = say('## Findings\nThe port is', { finish: 'max-tokens', usage: { input: 900, output: 1024 } });
  const run = await runTask(t, { main: STUBBORN, report: [cut, cut, cut] });
  assertRefused(run, 3, /finish reason max-tokens, 1024 output tokens/);
});

test('tool calls and tool-call markup are no report', async (t) => {
  const markup = [
    act(look('c9')),
    say('<｜DSML｜function_calls>\n<｜DSML｜invoke name="read">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>'),
    say('{"name": "read", "arguments": {"file_path": "a.txt"}}'),
  ];
  const run = await runTask(t, { main: STUBBORN, report: markup });
  assertRefused(run, 3, /tool-call markup, not prose/);
});

test('a provider that answers 500 is not asked again, and its words are kept', async (t) => {
  const failure = { status: 500, error: 'the summarizer is on fire' };
  const run = await runTask(t, { main: STUBBORN, report: [failure] });
  assertRefused(run, 1, /the summarizer is on fire \(SERVER\)/);
});

test('a provider that dies in the middle of the report', async (t) => {
  const run = await runTask(t, { main: STUBBORN, report: [say(REPORT, { die: true })] });
  assertRefused(run, 1, /finish reason error/);
});

test('a provider that answers garbage', async (t) => {
  const run = await runTask(t, { main: STUBBORN, report: [{ garbage: 'data: {not json\n\n' }] });
  assertRefused(run, 1, /MALFORMED_RESPONSE/);
});

test('a report longer than the exploration is refused, and the guard is content', async (t) => {
  const { log, provider } = await runTask(t, { main: MAIN, report: [say('word '.repeat(2000))] });
  assert.deepEqual(outline(log), UNTOUCHED);
  assert.equal(codeOf(log), 'SHRINK');
  assert.match(resultOf(log, 'w1'), /would not make the context smaller: the region has [\d,]+ characters/);
  assert.equal(provider.of('report').length, 1);
});

test('a fold that failed is done by the next call', async (t) => {
  const { log } = await runTask(t, {
    main: [act(mark()), act(look('c1')), act(fold('w1')), act(fold('w2')), say('done')],
    report: [{ status: 500, error: 'once' }, say(REPORT)],
  });
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'report 1', 'model w2', 'result w2', 'model "done"',
  ]);
  assert.equal(reportsIn(log)[0].data.source.foldedNodes, 4, 'the failed call folds with the rest');
});

const HANGS = {
  // Cancelled here, the request is one that `fetch` has not had a single byte of.
  'before it answers': () => new Promise(() => {}),
  'in the middle of its answer': () => say('half', { hang: true }),
};
for (const [when, hang] of Object.entries(HANGS)) {
  test(`a provider that hangs ${when} is left when a person cancels; the next turn folds`, async (t) => {
    const cli = await prepareCli(t, {
      runner: true,
      steps: {
        main: [act(mark()), act(look('c1')), act(fold('w1')), act(fold('w2')), say('done')],
        report: [() => {
          writeFileSync(join(cli.workspace, 'asked'), '');
          return hang();
        }, say(REPORT)],
      },
    });
    const { outcome, stderr } = await cli.drive({ moves: [
      { prompt: 'find the port', at: [{ file: 'asked', cancel: true }] },
      { prompt: 'go on' },
    ] });
    assert.deepEqual(outcome?.outcomes.map(({ reason }) => reason.kind), ['aborted', 'completed'], stderr);
    const [log] = cli.logs();
    assert.deepEqual(outline(log), [
      'person: find the port', 'model m1', 'result m1', 'report 1', 'person: go on', 'model w2', 'result w2',
      'model "done"',
    ]);
    assertSound(cli);
  });
}
