/**
 * How a fold is stopped: by any reason, at any time, in a turn and between turns (docs/rewind.md 3.6, 3.7,
 * 5).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { RewindError } from '../../plugin/host/error.js';
import { holder } from '../../plugin/host/lock.js';
import { snapshot } from '../laws/checks.js';
import { FAULTS } from './faults.js';
import { outcomeOf } from './judge.js';
import { POINTS } from './points.js';
import { FAULT, Rig } from './rig.js';

async function rigOf(t, plan) {
  const rig = await Rig.create(plan);
  t.after(async () => {
    await rig.dispose();
    assert.deepEqual(rig.rejections, []);
  });
  return rig;
}

/** A plan that stops nothing: the model's stream hangs until the fold is given up. */
const HANGING = { point: POINTS['middle chunk'], act: () => new Promise(() => {}) };

const REASONS = {
  'an error': new Error('enough'),
  'a plain object': { kind: 'user' },
  'text': 'enough',
  'null': null,
  'a number': 0,
  'an error that looks like a refusal': Object.assign(new Error('enough'), { code: 'CHANGED' }),
  'a refusal of another fold': new RewindError('SHRINK', 'enough', { markId: 1 }),
};

/** @returns what a promise rejects with, whatever that is. */
const thrownBy = (promise) => promise.then(() => assert.fail('it did not reject'), (reason) => ({ reason }));

/** Waits until the model has been asked for the report. */
async function asked(rig) {
  while (!rig.acted) await new Promise((resolve) => setImmediate(resolve));
}

for (const [name, reason] of Object.entries(REASONS)) {
  test(`the reason of an abort is thrown as it is: ${name}`, async (t) => {
    const rig = await rigOf(t, HANGING);
    await rig.wander();
    const before = snapshot(rig.session);
    const controller = new AbortController();
    const fold = thrownBy(rig.ctx.rewind.rewind(rig.agent.agent, controller.signal));
    await asked(rig);
    controller.abort(reason);
    assert.equal((await fold).reason, reason);
    assert.deepEqual(snapshot(rig.session), before);
    assert.equal(holder(rig.session), undefined);
    assert.equal(outcomeOf(await settled(rig)), 'folded', 'the fold is not retryable');
  });

  test(`a signal that is aborted already asks nobody: ${name}`, async (t) => {
    const rig = await rigOf(t);
    await rig.wander();
    rig.armed = true;
    const before = snapshot(rig.session);
    const fold = rig.ctx.rewind.rewind(rig.agent.agent, AbortSignal.abort(reason));
    assert.equal((await thrownBy(fold)).reason, reason);
    assert.deepEqual(snapshot(rig.session), before);
    assert.deepEqual(rig.passed, {});
  });
}

/** Folds once more, by code between turns. */
async function settled(rig) {
  await thrownBy(rig.ctx.rewind.rewind(rig.agent.agent).then(() => Promise.reject(new Error('done'))));
  return rig.folds.at(-1);
}

test('a stream that cannot be opened fails the report, not the session', async (t) => {
  const point = { seam: 'stream', count: 1 };
  for (const [what, act] of Object.entries({
    'it throws': FAULTS.throws.waiting,
    'it throws nothing at all': () => {
      throw null;
    },
    'it is no stream': () => undefined,
  })) {
    await t.test(what, async (tt) => {
      const rig = await Rig.create({ point, act });
      tt.after(() => rig.dispose());
      await rig.explore();
      assert.equal(outcomeOf(rig.folds[0]), 'SUMMARY_FAILED');
      assert.deepEqual(rig.folds[0].after, rig.folds[0].before);
      await rig.again();
      assert.equal(outcomeOf(rig.folds.at(-1)), 'folded');
    });
  }
});

test('a stream that fails halfway is closed', async (t) => {
  const rig = await rigOf(t);
  const { llm } = rig.ctx;
  const opened = llm.stream;
  let closed = 0;
  llm.stream = (options) => {
    if (options.maxTokens !== 1024) return opened(options);
    return (async function* chunks() {
      try {
        yield { type: 'block-end', index: 9, block: undefined };
        yield { type: 'text-delta', index: 0, text: 'never read' };
      } finally {
        closed += 1;
      }
    })();
  };
  await rig.explore();
  assert.equal(outcomeOf(rig.folds[0]), 'SUMMARY_FAILED');
  assert.equal(closed, 1);
});

const STOPS = {
  'the caller aborts': {
    stop: (rig, controller) => controller.abort(FAULT), reason: FAULT,
  },
  'a person cancels the agent': { stop: (rig) => rig.cancel(), reason: { kind: 'user' } },
  'the agent is disposed': { stop: (rig) => rig.disposeAgent(), reason: { kind: 'disposed' } },
  'the plugin is disposed': { stop: (rig) => rig.disposePlugin(), reason: /its plugin was disposed/ },
};

for (const [name, { stop, reason }] of Object.entries(STOPS)) {
  test(`between turns a fold is stopped: ${name}`, async (t) => {
    const rig = await rigOf(t, HANGING);
    await rig.wander();
    const before = snapshot(rig.session);
    const controller = new AbortController();
    const fold = thrownBy(rig.ctx.rewind.rewind(rig.agent.agent, controller.signal));
    await asked(rig);
    stop(rig, controller);
    const { reason: thrown } = await fold;
    if (reason instanceof RegExp) assert.match(thrown.message, reason);
    else assert.deepEqual(thrown, reason);
    await rig.disposal;
    assert.deepEqual(snapshot(rig.session), before);
    assert.equal(holder(rig.session), undefined);
    await rig.again();
    assert.equal(outcomeOf(rig.folds.at(-1)), 'folded');
  });
}

test('a prompt that comes during a fold between turns waits for it and sees the report', async (t) => {
  const rig = await rigOf(t, {
    point: POINTS['middle chunk'],
    act: (its, proceed) => {
      its.prompted = its.agent.prompt('and now?');
      return proceed();
    },
  });
  await rig.wander();
  await rig.ctx.rewind.rewind(rig.agent.agent);
  assert.equal((await rig.prompted).reason.kind, 'completed');
  const { messages } = rig.loop.requests.at(-1);
  assert.match(JSON.stringify(messages), /Neither holds the fault/);
  assert.equal(rig.agent.fault(), undefined);
});

test('an agent at work refuses a second fold between turns', async (t) => {
  const rig = await rigOf(t, HANGING);
  await rig.wander();
  const first = thrownBy(rig.ctx.rewind.rewind(rig.agent.agent));
  await asked(rig);
  const { reason } = await thrownBy(rig.ctx.rewind.rewind(rig.agent.agent));
  assert.equal(reason.code, 'FOLD_IN_PROGRESS');
  rig.cancel();
  await first;
});

test('a store that cannot flush does not undo a fold between turns', async (t) => {
  const rig = await rigOf(t);
  await rig.wander();
  for (const fail of [() => Promise.reject(FAULT), () => {
    throw FAULT;
  }]) {
    rig.ctx.sessions.flush = fail;
    const fold = rig.ctx.rewind.rewind(rig.agent.agent);
    if (rig.folds.length === 1) assert.equal((await fold).markId, 1);
    else assert.equal((await thrownBy(fold)).reason.code, 'EMPTY_REGION');
  }
});

test('a fold for a stand-in of the agent, without a signal, ends with the agent too', async (t) => {
  const rig = await rigOf(t, HANGING);
  await rig.wander();
  const before = snapshot(rig.session);
  const { session, agent: { id, options } } = rig.agent;
  const fold = thrownBy(rig.ctx.rewind.rewind({ id, session, options }));
  await asked(rig);
  rig.disposeAgent();
  assert.match((await fold).reason.message, /its agent was disposed/);
  assert.deepEqual(snapshot(rig.session), before);
  assert.equal(holder(rig.session), undefined);
});
