/**
 * What folds leave behind once the package is gone: no lock, no listener, no handle. `npm run soak` weighs
 * it.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { measure } from '../../benches/soak.js';

test('hundreds of folds over many sessions leave nothing behind', () => {
  assert.deepEqual(measure({ folds: 200, runs: 1 }).left, []);
});
