/** Reasons of an abort, disposal and the lock (docs/rewind.md 3.6, 3.7); when it comes is tried in `__test__/faults`. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { RewindError } from '../../index.js';
import { acquire, holder } from '../../plugin/host/lock.js';
import { say } from '../support/script.js';
import { REPORT, sceneOf, until } from './scene.js';

async function explored(t, options) {
  const scene = await sceneOf(t, options);
  scene.person('find the port');
  scene.mark();
  scene.look('c1');
  scene.rewind();
  return scene;
}

/** Waits until the model was asked. */
async function asked(scene) {
  await until(() => scene.asked.length > 0);
  await new Promise(setImmediate);
}

const REASONS = {
  'an error': new Error('stop'),
  'the harness\'s own plain object': { kind: 'user' },
  'a word': 'stop',
  'null': null,
  'a number': 0,
  'a refusal of this package': new RewindError('SHRINK', 'not really'),
  'an error with a code of ours': Object.assign(new Error('x'), { code: 'CHANGED' }),
};

for (const [name, reason] of Object.entries(REASONS)) {
  test(`the exact reason is thrown: ${name}`, async (t) => {
    const early = await explored(t);
    assert.equal(await early.refused(AbortSignal.abort(reason)), reason);
    assert.equal(early.asked.length, 0);

    const scene = await explored(t, { report: [say('half a report', { hang: true }), say(REPORT)] });
    const stop = new AbortController();
    const refused = scene.refused(stop.signal);
    await asked(scene);
    stop.abort(reason);
    assert.equal(await refused, reason);
    assert.deepEqual(scene.provider.told, []);
    assert.equal((await scene.fold()).foldedNodes, 2);
  });
}

test('an abort without a reason is the platform\'s own', async (t) => {
  const scene = await explored(t);
  assert.equal((await scene.refused(AbortSignal.abort())).name, 'AbortError');
});

test('a model that never answers holds nothing once it is aborted, nor does a provider that never tells', async (t) => {
  const model = await explored(t, { report: [say('', { hang: true })] });
  const stop = new AbortController();
  const waiting = model.refused(stop.signal);
  await asked(model);
  assert.equal(holder(model.session), 'rewind');
  stop.abort(new Error('enough'));
  assert.match((await waiting).message, /enough/);

  for (const method of ['latestMark', 'completeFold']) {
    const scene = await explored(t);
    const called = Promise.withResolvers();
    scene.provider[method] = () => {
      called.resolve();
      return new Promise(() => {});
    };
    const end = new AbortController();
    const fold = scene.fold(end.signal).catch((error) => error);
    await called.promise;
    end.abort(new Error('enough'));
    const outcome = await fold;
    if (method === 'latestMark') assert.equal(outcome.message, 'enough');
    else assert.match(outcome.warning, /enough/);
    assert.equal(holder(scene.session), undefined);
  }
});

test('after the commit the fold stands: a late abort is a success of the service', async (t) => {
  const scene = await explored(t);
  const stop = new AbortController();
  scene.provider.completeFold = async () => stop.abort(new Error('too late'));
  const { foldedNodes } = await scene.fold(stop.signal);
  assert.equal(foldedNodes, 2);
  scene.report();
});

test('X1: a second fold is refused at once, before any request; another session is not in its way', async (t) => {
  const scene = await explored(t, { report: [async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return say(REPORT);
  }, say(REPORT)] });
  const first = scene.fold();
  await assert.rejects(scene.fold(), (error) => {
    assert.deepEqual([error.code, error.name], ['FOLD_IN_PROGRESS', 'RewindError']);
    return true;
  });
  assert.equal(scene.asked.length, 0);
  assert.equal((await first).foldedNodes, 2);
  assert.equal(scene.asked.length, 1);
  assert.equal(holder(scene.session), undefined);
});

test('the lock is one for the whole package, and its holder is named', async (t) => {
  const scene = await explored(t);
  const release = acquire(scene.session, 'turn-memory');
  await assert.rejects(scene.fold(), { code: 'FOLD_IN_PROGRESS', message: /turn-memory/ });
  assert.equal(holder(scene.session), 'turn-memory');
  release();
  assert.equal((await scene.fold()).foldedNodes, 2);
});

test('every outcome frees the lock', async (t) => {
  for (const [report, options] of [[say(REPORT)], [say('')], [{ status: 500 }], [say('b'.repeat(9000))]]) {
    const scene = await explored(t, { report: [report, report, report], ...options });
    await scene.fold().catch(() => {});
    assert.equal(holder(scene.session), undefined);
  }
});

test('a listener of an abort that outlives the fold is not left behind', async (t) => {
  const scene = await explored(t);
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args) => {
    listeners += 1;
    return addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args) => {
    listeners -= 1;
    return removeEventListener.apply(signal, args);
  };
  await scene.fold(signal);
  assert.equal(listeners, 0);
});
