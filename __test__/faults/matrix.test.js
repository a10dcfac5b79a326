/**
 * Every fault at every point of a fold, in the real loop (docs/rewind.md 3). The cells are the product of two
 * tables; a third says what each must come to, and a cell without a row there fails.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { EXPECTED } from './expected.js';
import { FAULTS } from './faults.js';
import { assertAftermath, assertFold } from './judge.js';
import { POINTS } from './points.js';
import { Rig } from './rig.js';

async function play(point, fault, cell) {
  const rig = await Rig.create({ point, act: point.synchronous ? fault.synchronous : fault.waiting });
  try {
    let ended = await rig.explore();
    if (point.later) ended = await rig.again();
    assert.ok(rig.acted, 'the point was never passed');
    const met = rig.folds.at(point.later ? 1 : 0);
    const mark = { id: 1, logLength: rig.logLength };
    const nags = rig.nags;
    assertFold(rig, met, cell, mark);
    if (rig.second) assert.equal((await rig.second).code, 'FOLD_IN_PROGRESS');
    await rig.again();
    const next = rig.folds.at(-1);
    assertAftermath(rig, cell, { turn: ended.reason.kind, nags, next });
  } finally {
    await rig.dispose();
  }
  assert.deepEqual(rig.rejections, [], 'an unhandled rejection');
}

for (const [name, point] of Object.entries(POINTS)) {
  test(`at ${name}`, async (t) => {
    for (const [what, fault] of Object.entries(FAULTS)) {
      const cell = EXPECTED[name]?.[what];
      await t.test(what, async () => {
        assert.ok(cell, `no expectation for "${what}" at "${name}"`);
        await play(point, fault, cell);
      });
    }
  });
}

test('the table says nothing of points and faults that are not there', () => {
  assert.deepEqual(Object.keys(EXPECTED).filter((name) => !(name in POINTS)), []);
  const named = Object.values(EXPECTED).flatMap((row) => Object.keys(row));
  assert.deepEqual(named.filter((what) => !(what in FAULTS)), []);
});
