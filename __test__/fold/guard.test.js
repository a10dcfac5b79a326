/** When a turn is held and when it is not (docs/rewind.md 4.3, 4.4); the guard's waits are in `__test__/faults`. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { isRewindReportSource } from '../../index.js';
import { say } from '../support/script.js';
import { textOf } from '../support/wire.js';
import { OUTPUT, REPORT, sceneOf } from './scene.js';

/** A scene with an exploration to fold, whose agent keeps what is injected into it. */
async function explored(t, { objective = 'which  port\nis it', ...options } = {}) {
  const scene = await sceneOf(t, options);
  scene.injected = [];
  scene.agent.inject = (message) => scene.injected.push(message);
  scene.person('find the port');
  scene.mark({ objective });
  scene.look('c1');
  return scene;
}

/** The turn is about to stop. @returns what the listeners came to. */
function stopping(scene, signal = new AbortController().signal) {
  return scene.ctx.serial('agent/turn-stopping', { agent: scene.agent, turn: scene.turn, signal });
}

/** Asks for a fold from a tool call of its own, which is then answered. */
async function attempt(scene) {
  scene.rewind();
  const outcome = await scene.fold().then(() => 'folded', ({ code }) => code);
  scene.result('rw', outcome);
  return outcome;
}

test('an active mark is named once, and the listener comes to nothing', async (t) => {
  const scene = await explored(t);
  assert.equal(await stopping(scene), undefined);
  assert.equal(scene.injected.length, 1);
  const [{ role, content, source }] = scene.injected;
  assert.equal(role, 'user');
  assert.match(textOf(content), /mark 1\b.*which port is it.*`rewind`/);
  assert.deepEqual([source.kind, source.plugin, isRewindReportSource(source)], ['plugin', 'rewind-guard', false]);
});

test('U1: a long objective is named by its beginning, never by half a character', async (t) => {
  for (const [objective, named] of [
    [`${'x'.repeat(199)}🔬 and more`, 'x'.repeat(199)],
    [`${'x'.repeat(198)}🔬 and more`, `${'x'.repeat(198)}🔬`],
  ]) {
    const scene = await explored(t, { objective });
    await stopping(scene);
    const words = textOf(scene.injected[0].content);
    assert.ok(words.includes(`(objective: ${named})`), words);
    assert.ok(words.isWellFormed());
  }
});

test('C9: one warning an agent and turn, however often the turn stops', async (t) => {
  const scene = await explored(t);
  for (let stop = 0; stop < 3; stop += 1) await stopping(scene);
  await Promise.all([stopping(scene), stopping(scene)]);
  assert.equal(scene.injected.length, 1);
  scene.on_turn();
  await stopping(scene);
  assert.equal(scene.injected.length, 2);
});

test('two stops at the same time, before the first was answered, warn once', async (t) => {
  const scene = await explored(t);
  await Promise.all([stopping(scene), stopping(scene), stopping(scene)]);
  assert.equal(scene.injected.length, 1);
});

test('O5: the check is awaited, as slow as the provider may be', async (t) => {
  const scene = await explored(t);
  scene.provider.hasActive = async () => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    return true;
  };
  await stopping(scene);
  assert.equal(scene.injected.length, 1);
});

test('no mark, a folded mark, no provider: no warning', async (t) => {
  const none = await explored(t);
  none.provider.mark = undefined;
  await stopping(none);
  assert.equal(none.injected.length, 0);

  const stamped = await explored(t);
  stamped.provider.mark = { ...stamped.provider.mark, foldedAt: 1 };
  await stopping(stamped);
  assert.equal(stamped.injected.length, 0);
});

test('3.5: a mark that the log shows folded is not nagged about, whatever the provider says', async (t) => {
  const scene = await explored(t);
  assert.equal(await attempt(scene), 'folded');
  assert.equal(await scene.provider.hasActive(), true);
  await stopping(scene);
  assert.equal(scene.injected.length, 0);
});

test('it never throws, whatever the provider does', async (t) => {
  const failures = [
    { hasActive: () => { throw new Error('disk full'); } },
    { hasActive: () => Promise.reject(new Error('disk full')) },
    { latestMark: () => { throw new Error('disk full'); } },
    { latestMark: () => undefined },
    { latestMark: () => null },
    { hasActive: undefined },
    { latestMark: () => ({ id: 1, logLength: 'x' }) },
  ];
  for (const failure of failures) {
    const scene = await explored(t);
    Object.assign(scene.provider, failure);
    assert.equal(await stopping(scene), undefined);
  }
});

/** What is asked about a mark whose last attempt in the turn failed so. */
const ATTEMPTS = {
  EMPTY_REGION: { silent: true, options: {}, prepare: (scene) => { scene.provider.mark.logLength = scene.session.seq; } },
  UNBALANCED: { silent: true, options: { invariants: false }, prepare: (scene) => {
    scene.calls = [{ id: 'zz', name: 'read', args: '{}', started: false }];
    scene.result('zz');
    scene.look('c2');
  } },
  SHRINK: { silent: true, options: { report: [say('b'.repeat(9000))] } },
  NO_ROUTE: { silent: true, options: {}, prepare: (scene) => { scene.agent.options = {}; } },
  SUMMARY_FAILED: { silent: false, options: { report: [{ status: 500 }] } },
  CHANGED: { silent: false, options: { report: [say(REPORT)] }, prepare: (scene) => {
    scene.loop.adapter.gate = () => {
      scene.provider.mark = { ...scene.provider.mark, objective: 'another' };
    };
  } },
};

for (const [code, { silent, options, prepare }] of Object.entries(ATTEMPTS)) {
  test(`after ${code} the turn is ${silent ? 'left alone' : 'held once'}`, async (t) => {
    const scene = await explored(t, options);
    prepare?.(scene);
    assert.equal(await attempt(scene), code);
    await stopping(scene);
    assert.equal(scene.injected.length, silent ? 0 : 1);
  });
}

test('the last attempt counts: a failure of the model after a lasting one is worth a warning', async (t) => {
  const scene = await explored(t, { report: [say('b'.repeat(9000)), { status: 500 }] });
  assert.equal(await attempt(scene), 'SHRINK');
  scene.look('c2', OUTPUT.repeat(4));
  assert.equal(await attempt(scene), 'SUMMARY_FAILED');
  await stopping(scene);
  assert.equal(scene.injected.length, 1);
});

test('an attempt at another mark, or in another turn, says nothing about this one', async (t) => {
  const other = await explored(t);
  other.agent.options = {};
  assert.equal(await attempt(other), 'NO_ROUTE');
  other.mark();
  other.look('c3');
  await stopping(other);
  assert.equal(other.injected.length, 1);

  const scene = await explored(t);
  scene.agent.options = {};
  assert.equal(await attempt(scene), 'NO_ROUTE');
  scene.on_turn();
  await stopping(scene);
  assert.equal(scene.injected.length, 1);
});

test('4.4: after a SHRINK it is silent in later turns too, until the region has grown', async (t) => {
  const scene = await explored(t, { report: [say('b'.repeat(9000))] });
  scene.on_end();
  assert.equal(await scene.fold().then(() => 'folded', ({ code }) => code), 'SHRINK');
  scene.on_turn();
  await stopping(scene);
  assert.equal(scene.injected.length, 0);
  scene.look('c2');
  await stopping(scene);
  assert.equal(scene.injected.length, 1);
});

test('an aborted turn is not held', async (t) => {
  const scene = await explored(t);
  assert.equal(await stopping(scene, AbortSignal.abort()), undefined);
  assert.equal(scene.injected.length, 0);
});
