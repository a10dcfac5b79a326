/** The one-writer lock, docs/rewind.md 3.7. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acquire, holder } from '../plugin/host/lock.js';

test('a held session refuses the next writer and names the first', () => {
  const session = {};
  const release = acquire(session, 'rewind');
  assert.equal(typeof release, 'function');
  assert.equal(acquire(session, 'prune'), undefined);
  assert.equal(holder(session), 'rewind');
  release();
  assert.equal(holder(session), undefined);
});

test('sessions do not share a lock', () => {
  const one = acquire({}, 'rewind');
  const other = acquire({}, 'rewind');
  assert.equal(typeof other, 'function');
  one();
  other();
});

test('a second release does not free the lock of the next writer', () => {
  const session = {};
  const first = acquire(session, 'rewind');
  first();
  const second = acquire(session, 'prune');
  first();
  assert.equal(holder(session), 'prune');
  second();
});

test('a reloaded copy of the module sees the lock of the first copy', async () => {
  const session = {};
  const release = acquire(session, 'rewind');
  const reloaded = await import('../plugin/host/lock.js?reloaded');
  assert.notEqual(reloaded.acquire, acquire);
  assert.equal(reloaded.acquire(session, 'prune'), undefined);
  assert.equal(reloaded.holder(session), 'rewind');
  release();
  assert.equal(typeof reloaded.acquire(session, 'prune'), 'function');
});
