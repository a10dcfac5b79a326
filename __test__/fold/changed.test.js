/** What happens while the model writes the report (docs/rewind.md 3.1). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { say } from '../support/script.js';
import { REPORT, sceneOf } from './scene.js';

/** A scene with siblings, two segments and steering between them, where `meanwhile` runs during the answer. */
async function waiting(t, meanwhile) {
  const scene = await sceneOf(t, {
    report: [() => {
      meanwhile(scene);
      return say(REPORT);
    }, say(REPORT)],
  });
  scene.person('find the port');
  scene.says({ calls: [['cp', 'checkpoint', '{}'], ['s1', 'read', '{}']] });
  scene.take({ callId: 'cp' });
  scene.result('cp', 'marked');
  scene.sibling = scene.result('s1');
  scene.first = scene.look('c1');
  scene.steer = scene.person('go on');
  scene.second = [...scene.look('c2'), ...scene.look('c3')];
  scene.rewind();
  return scene;
}

async function changed(t, meanwhile) {
  const scene = await waiting(t, meanwhile);
  let log;
  const ask = scene.loop.adapter.gate;
  scene.loop.adapter.gate = async (request) => {
    await ask?.(request);
    log = JSON.stringify([scene.session.events, scene.session.surface.nodes]);
  };
  await assert.rejects(scene.fold(), { code: 'CHANGED', name: 'RewindError' });
  assert.equal(JSON.stringify([scene.session.events, scene.session.surface.nodes]), log, 'nothing was written');
  return scene;
}

test('P7, X6: what is appended behind the region is no change, and stays behind the report', async (t) => {
  const scene = await waiting(t, (stage) => {
    stage.steering = stage.person('also check b.rs');
    stage.notice = stage.plugin('notice', 'a file changed');
  });
  const { foldedNodes } = await scene.fold();
  assert.equal(foldedNodes, 7);
  const { nodes } = scene.session.surface;
  assert.deepEqual(nodes.slice(-2), [scene.steering, scene.notice]);
  assert.ok(nodes.indexOf(scene.report().seq) < nodes.indexOf(scene.steering));
});

test('P7: the result of a sibling of the rewind call may arrive meanwhile', async (t) => {
  const scene = await sceneOf(t, {
    report: [() => {
      scene.result('c2');
      return say(REPORT);
    }],
  });
  scene.mark();
  scene.look('c1');
  scene.says({ calls: [['c2', 'todo', '{}'], ['rw', 'rewind', '{}']] });
  assert.equal((await scene.fold()).foldedNodes, 2);
});

test('what happens in front of the region is no change', async (t) => {
  const scene = await waiting(t, (stage) => stage.compact(stage.session.surface.nodes[0], stage.session.surface.nodes[0], 'sum'));
  assert.equal((await scene.fold()).foldedNodes, 7);
});

test('X5: any difference in the full list of folded seqs is a change, also with equal ends and count', async (t) => {
  const changes = {
    'an inner node': (scene) => scene.prune(scene.second[1], 'short'),
    'the first node': (scene) => scene.compact(scene.first[0], scene.first[1], 'sum'),
    'the last node': (scene) => scene.prune(scene.second[3], 'short'),
    'a sibling': (scene) => scene.prune(scene.sibling, 'short'),
    'a whole segment': (scene) => scene.compact(scene.second[0], scene.second[3], 'sum'),
    'everything': (scene) => scene.compact(scene.session.surface.nodes[0], scene.second[3], 'sum'),
    'the words between the segments': (scene) => scene.compact(scene.steer, scene.second[3], 'sum'),
  };
  for (const [name, change] of Object.entries(changes)) {
    await t.test(name, async (inner) => {
      const scene = await changed(inner, change);
      if (name === 'an inner node') assert.equal((await scene.fold()).foldedNodes, 7, 'retryable');
    });
  }
});

test('the turn that ends meanwhile takes the siblings with it', async (t) => {
  const scene = await waiting(t, (stage) => stage.on_end('aborted'));
  await assert.rejects(scene.fold(), { code: 'CHANGED' });
});

test('any difference in the mark is a change', async (t) => {
  const differences = {
    'another mark': ({ mark }) => ({ ...mark, id: 2 }),
    'the same id elsewhere': ({ mark }) => ({ ...mark, logLength: mark.logLength + 1 }),
    'another call': ({ mark }) => ({ ...mark, callId: 's1' }),
    'folded by somebody': ({ mark }) => ({ ...mark, foldedAt: 5 }),
    'no mark any more': () => undefined,
  };
  for (const [name, next] of Object.entries(differences)) {
    await t.test(name, (inner) => changed(inner, ({ provider }) => {
      provider.mark = next(provider);
    }));
  }
});

test('the same mark told again as another object is no change', async (t) => {
  const scene = await waiting(t, ({ provider }) => {
    provider.mark = structuredClone(provider.mark);
  });
  assert.equal((await scene.fold()).foldedNodes, 7);
});

test('C1: the message of a refusal says what to do', async (t) => {
  const scene = await waiting(t, (stage) => stage.prune(stage.second[1], 'short'));
  await assert.rejects(scene.fold(), /changed while the report was written.*mark stays active; fold again/);
});
