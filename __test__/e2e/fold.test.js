/** Folds in the real CLI: what stands on the surface afterwards, what was sent, what the log still holds. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  NEEDLES, REPORT, act, carries, fold, look, mark, outline, reportsIn, resultOf, runTask, say,
} from './scenario.js';

const [ALPHA, BETA] = Object.values(NEEDLES);

test('a plain fold', async (t) => {
  const { log, stdout, provider } = await runTask(t, {
    main: [act(mark()), act(look('c1')), act(look('c2', 'b.txt')), act(fold()), say('It is 7141.')],
    report: [say(REPORT)],
  });
  assert.equal(stdout, 'It is 7141.\n');
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'report 1', 'model w1', 'result w1',
    'model "It is 7141."',
  ]);

  const [report] = reportsIn(log);
  const folded = log.events.filter(({ seq }) => report.sourceEventSeqs.includes(seq));
  assert.deepEqual(folded.map(({ type }) => type),
    ['assistant/message', 'tool/result', 'assistant/message', 'tool/result']);
  assert.ok(JSON.stringify(folded).includes(ALPHA) && JSON.stringify(folded).includes(BETA));
  const { markId, foldedNodes, start, end, foldedChars, reportChars } = report.data.source;
  assert.deepEqual({ markId, foldedNodes, start, end },
    { markId: 1, foldedNodes: 4, start: folded[0].seq, end: folded.at(-1).seq });
  assert.ok(reportChars > REPORT.length && reportChars < foldedChars);

  const [before, after] = provider.of('main').slice(-2);
  assert.ok(carries(before, ALPHA) && carries(before, BETA));
  assert.ok(!carries(after, ALPHA) && !carries(after, BETA) && carries(after, 'The port is 7141'));
  assert.ok(after.promptChars < before.promptChars);
  assert.match(resultOf(log, 'w1'), /^Folded 4 nodes of mark 1/);
});

test('the report request is the last request, one message longer', async (t) => {
  const { provider } = await runTask(t, {
    main: [act(mark()), act(look('c1')), act(fold()), say('done')],
    report: [say(REPORT)],
  });
  const last = provider.of('main').at(-2);
  const [request] = provider.of('report');
  assert.deepEqual(request.messages.slice(0, -1), last.messages);
  assert.deepEqual(request.tools, last.tools);
  assert.equal(request.messages.at(-1).role, 'user');
  assert.match(request.messages.at(-1).content, /find the port/);
  assert.equal(request.maxTokens, 1024);
  assert.deepEqual(request.body.thinking, { type: 'disabled' });
  assert.ok(request.cachedChars > 0.9 * last.promptChars);
  assert.equal(request.sessionId, last.sessionId);
});

test('mark and exploration in one message', async (t) => {
  const { log, provider } = await runTask(t, {
    main: [act([mark(), look('c1')]), act(look('c2', 'b.txt')), act(fold()), say('done')],
    report: [say(REPORT)],
  });
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1 c1', 'result m1', 'result c1*', 'report 1', 'model w1', 'result w1',
    'model "done"',
  ]);
  assert.ok(!resultOf(log, 'c1').includes(ALPHA));
  assert.equal(resultOf(log, 'c1').split('\n').length, 1);
  assert.equal(reportsIn(log)[0].data.source.foldedNodes, 3);
  assert.ok(carries(provider.of('report')[0], ALPHA), 'the sibling is summarized');
  assert.ok(!carries(provider.of('main').at(-1), ALPHA));
  assert.ok(JSON.stringify(log.events).includes(ALPHA));
});

test('exploration only in parallel siblings', async (t) => {
  const { log, provider } = await runTask(t, {
    main: [act([look('c0', 'c.txt'), mark(), look('c1'), look('c2', 'b.txt')]), act(fold()), say('done')],
    report: [say(REPORT)],
  });
  assert.deepEqual(outline(log), [
    'person: find the port', 'model c0 m1 c1 c2', 'result c0', 'result m1', 'result c1*', 'result c2*',
    'model w1',
    'result w1', 'model "done"',
  ]);
  assert.match(resultOf(log, 'c2'), /^\[rewind report of mark 1\]/);
  assert.match(resultOf(log, 'c2'), /The port is 7141/);
  assert.ok(resultOf(log, 'c0').includes(NEEDLES['c.txt']), 'what came before the mark stays');
  assert.ok(!carries(provider.of('main').at(-1), ALPHA) && !carries(provider.of('main').at(-1), BETA));
});

test('two folds in a row', async (t) => {
  const { log } = await runTask(t, {
    main: [
      act(mark('m1')), act(look('c1')), act(fold('w1')),
      act(mark('m2', 'find the host')), act(look('c2', 'b.txt')), act(fold('w2')), say('done'),
    ],
    report: [say(REPORT), say('## Findings\nThe host is beta (b.txt).')],
  });
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'report 1', 'model w1', 'result w1', 'model m2',
    'result m2',
    'report 2', 'model w2', 'result w2', 'model "done"',
  ]);
  assert.deepEqual(reportsIn(log).map(({ data }) => data.source.foldedNodes), [2, 2]);
});

test('a second rewind on a folded mark is refused and folds nothing', async (t) => {
  const { log, provider } = await runTask(t, {
    main: [
      act(mark()), act(look('c1')), act(fold('w1')), act(look('c2', 'b.txt')), act(fold('w2')), say('done'),
    ],
    report: [say(REPORT)],
  });
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'report 1', 'model w1', 'result w1', 'model c2',
    'result c2',
    'model w2', 'result w2!', 'model "done"',
  ]);
  assert.match(resultOf(log, 'w2'), /Mark 1 is folded already/);
  const refused = log.events.findLast(({ type, data }) => type === 'tool/result' && data.error);
  assert.equal(refused.data.error.code, 'EMPTY_REGION');
  assert.equal(provider.of('report').length, 1);
});

test('a rewind right after the mark finds nothing and leaves the mark active', async (t) => {
  const { log } = await runTask(t, {
    main: [act(mark()), act(fold('w1')), act(look('c1')), act(fold('w2')), say('done')],
    report: [say(REPORT)],
  });
  const outcomes = log.events.filter(({ type, data }) => type === 'tool/result' && data.error);
  assert.deepEqual(outcomes.map(({ data }) => data.error.code), ['EMPTY_REGION']);
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'report 1', 'model w2', 'result w2', 'model "done"',
  ]);
});

test('a rewind without a mark', async (t) => {
  const { log, provider } = await runTask(t, { main: [act(look('c1')), act(fold()), say('done')] });
  assert.deepEqual(outline(log), [
    'person: find the port', 'model c1', 'result c1', 'model w1', 'result w1!', 'model "done"',
  ]);
  assert.match(resultOf(log, 'w1'), /No checkpoint is set in this session/);
  assert.equal(log.events.find(({ data }) => data?.error)?.data.error.code, 'NO_CHECKPOINT');
  assert.deepEqual(provider.of('report'), []);
});

const PARALLEL = { first: [fold(), look('c2', 'b.txt')], last: [look('c2', 'b.txt'), fold()] };
for (const [order, calls] of Object.entries(PARALLEL)) {
  test(`a rewind in parallel with another call, ${order}`, async (t) => {
    const { log, provider } = await runTask(t, {
      main: [act(mark()), act(look('c1')), act(calls), say('done')],
      report: [say(REPORT)],
    });
    const ids = calls.map(({ id }) => id);
    assert.deepEqual(outline(log), [
      'person: find the port', 'model m1', 'result m1', 'report 1', `model ${ids.join(' ')}`,
      ...ids.map((id) => `result ${id}`), 'model "done"',
    ]);
    const after = provider.of('main').at(-1);
    assert.ok(!carries(after, ALPHA) && carries(after, BETA), 'the sibling of the rewind call stays');
  });
}
