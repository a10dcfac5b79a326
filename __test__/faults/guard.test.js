/**
 * The guard's own waits (docs/rewind.md 4.3): whatever a checkpoint provider does while a turn is stopping,
 * the turn ends as it would have, is held at most once, and nothing is written by a plugin that is gone.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { FAULTS } from './faults.js';
import { Rig } from './rig.js';

const POINTS = {
  'hasActive': { seam: 'hasActive', count: 1, changes: 'c2' },
  'latest mark': { seam: 'latestMark', count: 1, changes: 'c2' },
};

const WARNED = { turn: 'completed', nags: 1 };
const SILENT = { turn: 'completed', nags: 0 };
const ABORTED = { turn: 'aborted', nags: 0 };

const EITHER = {
  'throws': SILENT,
  'rejects': SILENT,
  'never settles, then abort': ABORTED,
  'settles after abort': ABORTED,
  'rejects after abort': ABORTED,
  'agent disposed': ABORTED,
  'plugin disposed': SILENT,
  'surface changed': WARNED,
  'mark changed': WARNED,
  'mark lost': SILENT,
  // Code that asks for a fold while the turn is stopping is outside any call of it, and is refused.
  'second fold started': WARNED,
};

const EXPECTED = { 'hasActive': EITHER, 'latest mark': EITHER };

for (const [name, point] of Object.entries(POINTS)) {
  test(`at the guard's ${name}`, async (t) => {
    for (const [what, fault] of Object.entries(FAULTS)) {
      const cell = EXPECTED[name][what];
      await t.test(what, async () => {
        assert.ok(cell, `no expectation for "${what}" at "${name}"`);
        const rig = await Rig.create({ point, act: fault.waiting });
        rig.armed = true;
        try {
          const { reason } = await rig.wander();
          assert.ok(rig.acted, 'the point was never passed');
          await rig.disposal;
          assert.deepEqual({ turn: reason.kind, nags: rig.nags }, cell);
          if (rig.second) assert.equal((await rig.second).code, 'FOLD_IN_PROGRESS');
          const inbox = rig.session.events.filter(({ type }) => type === 'agent/inbox/spliced');
          const waiting = inbox.flatMap(({ data }) => data.inserted ?? [])
            .filter(({ source }) => source.plugin === 'rewind-guard');
          assert.equal(waiting.length, cell.nags, 'a warning waits for the next, unrelated prompt');
          assert.equal(rig.agent.fault(), undefined);
        } finally {
          await rig.dispose();
        }
        assert.deepEqual(rig.rejections, [], 'an unhandled rejection');
      });
    }
  });
}
