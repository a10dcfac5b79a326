/** Looking back in the real CLI: the model recalls, a person asks with /rewind, an engineer audits the log. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { auditOf, dshRewind } from '../audit/run.js';
import { call } from '../support/script.js';
import {
  NEEDLES, REPORT, act, assertSound, carries, fold, look, mark, prepareCli, reportsIn, resultOf, say,
} from './scenario.js';

const { 'a.txt': ALPHA, 'b.txt': BETA } = NEEDLES;

const prompt = { prompt: 'find the port' };

async function drive(cli, script) {
  const { code, stderr, outcome } = await cli.drive(script);
  assert.equal(code, 0, stderr);
  return outcome;
}

test('recall gives back what a fold took, by path and by pattern, and the log stays clean', async (t) => {
  const cli = await prepareCli(t, {
    runner: true,
    steps: {
      main: [
        act(mark()), act(look('c1')), act(look('c2', 'b.txt')), act(fold()), say('7141'),
        act(call('q1', 'recall', { path: 'a.txt' })),
        act(call('q2', 'recall', { pattern: 'needle-beta-\\d+' })),
        act(call('q3', 'recall', { seq: 999_999 })),
        say('done'),
      ],
      report: [say(REPORT)],
    },
  });
  await drive(cli, { moves: [prompt, { prompt: 'what exactly stood there?' }] });
  const [log] = cli.logs();
  const [report] = reportsIn(log);
  assert.ok(resultOf(log, 'q1').includes(ALPHA) && !resultOf(log, 'q1').includes(BETA));
  assert.match(resultOf(log, 'q2'), new RegExp(`^s\\d+ read .*b\\.txt.*, 1 line matches\\)\\n84: 81: ${BETA}$`));
  const known = new RegExp(`There is no seq 999999.* s${report.seq} for s\\d+ to s\\d+ \\(4 nodes\\)`);
  assert.match(resultOf(log, 'q3'), known);
  assert.ok(carries(cli.provider.of('main').at(-1), BETA), 'the model sees what it recalled');
  assertSound(cli);

  const { code, audits: [audit], stderr } = auditOf(log.path);
  assert.deepEqual([code, stderr, audit.findings], [0, '', []]);
  const [found] = audit.folds;
  assert.deepEqual([found.mark, found.report, found.nodes, found.readAgain], ['1', report.seq, 4, 2]);
  assert.equal(audit.requests.count, cli.provider.of('main').length);
  const shown = dshRewind('show', log.path, String(report.seq)).stdout;
  assert.ok(shown.includes(REPORT) && shown.includes(ALPHA) && shown.includes(BETA));
});

test('/rewind in every state of a session: no mark, active, folded, shown, discarded', async (t) => {
  const cli = await prepareCli(t, {
    runner: true,
    steps: {
      main: [
        say('hello'), act(mark()), act(look('c1')), act(look('c2', 'b.txt')), say('7141'), say('7141, as I said'),
        act(mark('m2', 'the host')), act(look('c3', 'c.txt')), say('found'), say('found, as I said'),
      ],
      report: [say(REPORT)],
    },
  });
  const lines = ['/rewind', '/rewind preview', '/rewind fold', '/rewind list', '/rewind show 1', '/rewind discard'];
  const ask = lines.map((command) => ({ command }));
  const { outcomes } = await drive(cli, {
    moves: [{ prompt: 'hi' }, ...ask, prompt, ...ask, { prompt: 'and the host?' }, ...ask],
  });
  const said = (from) => outcomes.slice(from, from + lines.length);
  const [bare, first, second] = [1, 8, 15].map(said);
  assert.match(bare[0].text, /^No mark in this session yet/);
  assert.deepEqual(bare.map(({ kind }) => kind), ['success', 'success', 'error', 'success', 'error', 'error']);

  assert.match(first[0].text, /^Mark 1 is active, set just now at s\d+: find the port\nSince then: \d+ nodes, /);
  assert.match(first[1].text, /^A fold of mark 1 now takes \d+ nodes /);
  assert.match(first[1].text, /\n {2}s\d+ to s\d+: \d+ nodes \(read ×2\), become the report\n/);
  assert.match(first[2].text, /^Folded \d+ nodes of mark 1 /);
  assert.match(first[3].text, /^1 fold in this session:\nMark 1: \d+ nodes, s\d+ to s\d+, report at s\d+\n/);
  assert.ok(first[4].text.includes(REPORT) && first[4].text.includes(ALPHA) && first[4].text.includes(BETA));
  assert.match(first[5].text, /^No mark is active/);

  assert.match(second[0].text, /^Mark 2 is active, set just now at s\d+: the host\n/);
  assert.equal(second[2].kind, 'error', 'one short file is not worth a report');
  assert.match(second[5].text, /^Mark 2 is discarded\./);
  assertSound(cli);
  const [log] = cli.logs();
  const { audits: [audit] } = auditOf(log.path);
  assert.deepEqual(audit.marks.map(({ id, report, discarded }) => [id, report !== null, discarded]), [
    ['1', true, false], ['2', false, true],
  ]);
  assert.deepEqual(audit.findings, []);
});
