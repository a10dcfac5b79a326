/**
 * One exploration in the real CLI whose process is killed in the middle of its fold, and the process that
 * takes the session up again. The exploration has a sibling of the checkpoint call and a person's words in
 * the middle, so that its fold lands a report, a pointer and a rewritten sibling, each behind its price.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  REPORT, act, assertSound, fold, look, mark, outline, prepareCli, reportsIn, resultOf, say,
} from '../e2e/scenario.js';
import { OURS } from '../support/cli.js';

const HERE = dirname(fileURLToPath(import.meta.url));
const KILLER = join(HERE, 'killer');

const STORED_MARKS = join(HERE, 'marks');

const STEER = 'do not touch the tests';
const BEFORE = ['person: find the port', 'model m1 s1', 'result m1'];

/**
 * The surface at the end. What had reached the disk of the first fold stands, and nothing is added to it;
 * where its report had not, the second process folds all there is, its own first turn included.
 */
function expectedSurface({ edits, result }) {
  if (edits < 2) {
    return [
      ...BEFORE, 'result s1*', 'pointer 1', `person: ${STEER}`, 'pointer 1', 'person: thank you', 'report 1',
      'person: fold it now', 'model w2', 'result w2', 'model w3', 'result w3!', 'model "done"',
    ];
  }
  return [
    ...BEFORE,
    edits < 6 ? 'result s1' : 'result s1*',
    ...(edits < 4 ? ['model c1', 'result c1'] : ['pointer 1']),
    `person: ${STEER}`, 'report 1', 'model w1', result ? 'result w1' : 'result w1!',
    'person: thank you', 'model "you are welcome"',
    'person: fold it now', 'model w2', 'result w2!', 'model w3', 'result w3!', 'model "done"',
  ];
}

const isEdit = ({ type, surfaceOp }) => type === 'compaction/prune' || typeof surfaceOp === 'object';
const nagsIn = ({ events }) => events.filter(({ data }) => data.source?.plugin === 'rewind-guard').length;

/** The events that were on disk when the process had died, as text; reading them adds the end of the seed. */
function prefixOf({ events }, left) {
  const stored = left.events.at(-1).type === 'session/end-seed' ? left.events.slice(0, -1) : left.events;
  return stored.map(({ seq }) => JSON.stringify(events[seq])).join('\n');
}

/** Whether the foreign provider knows of the fold; undefined where there is none. */
function stampOf({ home }) {
  const marks = JSON.parse(readFileSync(join(home, 'marks.json'), 'utf8'));
  assert.equal(marks.length, 1);
  return marks[0].foldedAt !== null;
}

/**
 * Kills the process at a moment and takes the session up: a person says something unrelated, then the model
 * asks for the fold, and asks once more.
 *
 * @param t - the test.
 * @param moment - the killer's config, and `edits`: how many events of the fold it leaves on disk.
 * @param options - `stored`: whether the marks are those of a foreign provider with a file of its own.
 */
export async function killAndResume(t, { edits, ...kill }, { stored = false } = {}) {
  const hangs = kill.request === 'streaming';
  const asked = kill.request !== 'sent';
  const folded = edits >= 2;
  const cli = await prepareCli(t, {
    runner: true,
    packages: [OURS, KILLER, ...(stored ? [STORED_MARKS] : [])],
    rows: [{ id: 'test-killer', config: kill }],
    steps: {
      main: [
        act([mark(), look('s1')]), act(look('c1')), act(look('c2', 'b.txt')), act(fold('w1')),
        // The second process. The guard warns, once a turn, of a mark that is not folded, and of no other.
        say('you are welcome'), ...(folded ? [] : [say('not now')]),
        act(fold('w2')), act(fold('w3')), say('done'),
      ],
      report: [...(asked ? [say(REPORT, { hang: hangs })] : []), ...(folded ? [] : [say(REPORT)])],
    },
  });
  const died = await cli.drive({ moves: [
    { prompt: 'find the port', at: [{ type: 'tool/result', count: 3, steer: STEER }] },
  ] });
  assert.ok(died.signal === 'SIGKILL' || died.code === 137, `${died.code} ${died.signal}\n${died.stderr}`);
  const [left] = cli.logs();
  assert.equal(left.events.filter(isEdit).length, edits, 'the process did not die where it should');
  if (stored) assert.equal(stampOf(cli), false);

  cli.patch([{ id: 'test-killer', disabled: true }]);
  const moves = [{ prompt: 'thank you' }, { prompt: 'fold it now' }];
  const resumed = await cli.drive({ resume: left.id, moves });
  assert.equal(resumed.code, 0, resumed.stderr);
  assert.deepEqual(resumed.outcome.outcomes.map(({ reason }) => reason?.kind), ['completed', 'completed']);
  const [log, ...others] = cli.logs();
  assert.deepEqual(others, []);
  assert.equal(prefixOf(log, left), prefixOf(left, left), 'the log of before was rewritten');

  assert.equal(reportsIn(log).length, 1, 'the exploration was folded twice, or not at all');
  assert.equal(nagsIn(log), folded ? 0 : 1);
  assert.match(resultOf(log, 'w2'), folded ? /folded already.*report stands/ : /^Folded \d+ nodes of mark 1/);
  assert.match(resultOf(log, 'w3'), /folded already.*report stands/);
  assert.deepEqual(outline(log), expectedSurface({ edits, ...kill }));
  if (stored) assert.equal(stampOf(cli), true, 'the provider was not told');
  assertSound(cli);
}
