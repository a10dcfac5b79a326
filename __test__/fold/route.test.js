/** Where the report call goes and what it asks of the route (docs/rewind.md 2.1, 2.3, 2.5). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { textOf } from '../support/wire.js';
import { OUTPUT, image, sceneOf } from './scene.js';

const OFF = { reasoning: { efforts: [{ id: 'high', name: 'High' }, { id: 'off', name: 'Off' }], defaultEffort: 'high' } };

async function explored(t, options) {
  const scene = await sceneOf(t, options);
  scene.person('find the port');
  scene.mark();
  scene.look('c1');
  scene.rewind();
  return scene;
}

function route(scene, provider, model) {
  scene.append('request/header', { header: { config: { provider, model } }, reason: 'initial' });
}

test('2.1: the configured pair, else the last routed request, else the agent\'s options', async (t) => {
  const cases = [
    [{ summarizationProvider: 'scripted', summarizationModel: 'configured' }, 'routed', 'optional', 'configured'],
    [{}, 'routed', 'optional', 'routed'],
    [{}, undefined, 'optional', 'optional'],
  ];
  for (const [config, header, option, expected] of cases) {
    const scene = await explored(t, { config });
    if (header) route(scene, 'scripted', header);
    scene.agent.options = { provider: 'scripted', model: option };
    await scene.fold();
    assert.equal(scene.asked[0].options.model, expected);
  }
});

test('2.1: a half or empty route is none; no route at all names the three places', async (t) => {
  const empties = [undefined, {}, { provider: '', model: '' }, { provider: 'scripted' }, { provider: 'scripted', model: '' }];
  for (const options of empties) {
    const scene = await explored(t);
    scene.agent.options = options ?? {};
    const { code, message, name } = await scene.refused();
    assert.deepEqual([code, name], ['NO_ROUTE', 'RewindError']);
    for (const place of [/summarizationProvider/, /request header/, /agent.*options/]) assert.match(message, place);
  }
});

test('2.3: `off` is asked for where it is offered, and nothing is invented where it is not', async (t) => {
  const asked = async (model) => {
    const scene = await explored(t, { model });
    await scene.fold();
    return scene.asked[0].options;
  };
  assert.equal((await asked(OFF)).reasoningEffort, 'off');
  assert.equal('reasoningEffort' in await asked({ reasoning: { efforts: [{ id: 'high', name: 'High' }] } }), false);
  assert.equal('reasoningEffort' in await asked({}), false);
});

test('2.3, S9: a probe that fails in any way fails nothing', async (t) => {
  const failures = [
    () => { throw new Error('no such model'); },
    () => Promise.reject(new Error('no such model')),
    () => Promise.resolve(undefined),
    () => ({ reasoning: {}, inputModalities: undefined }),
  ];
  for (const probe of failures) {
    const scene = await explored(t, { model: OFF });
    scene.ctx.llm.resolveModelInfo = probe;
    const stream = scene.ctx.llm.stream.bind(scene.ctx.llm);
    let seen;
    scene.ctx.llm.stream = (options) => {
      seen = options;
      delete scene.ctx.llm.resolveModelInfo;
      return stream(options);
    };
    assert.equal((await scene.fold()).foldedNodes, 2);
    assert.equal('reasoningEffort' in seen, false);
  }
});

test('2.3: maxTokens is the budget; session and signal are passed on', async (t) => {
  const scene = await explored(t, { config: { maxTokens: 777 } });
  const controller = new AbortController();
  await scene.fold(controller.signal);
  const { maxTokens, sessionId, signal } = scene.asked[0].options;
  assert.deepEqual([maxTokens, sessionId, signal instanceof AbortSignal], [777, 'scene', true]);
});

/** A prompt, and a region, with an image in a person's message, beside text in a result, and alone in one. */
async function pictured(t, options) {
  const scene = await sceneOf(t, options);
  scene.append('request/header', { header: { config: { provider: 'scripted', model: 'scripted-1' } }, reason: 'initial' });
  scene.person('like this', image('sketch.png'));
  scene.mark();
  scene.says({ calls: [['c1', 'shot', '{}'], ['c2', 'shot', '{}']] });
  scene.result('c1', OUTPUT, { image: true });
  scene.answer('c2', null, { image: true });
  scene.look('c3');
  scene.rewind();
  return scene;
}

const typesIn = (blocks) => blocks.flatMap((block) => [block.type, ...(block.content ? typesIn(block.content) : [])]);

test('2.5: images go as they are unless the model declares modalities without them', async (t) => {
  for (const model of [{}, { inputModalities: ['text', 'image'] }]) {
    const scene = await pictured(t, { model });
    const kept = scene.session.deriveMessages().slice(0, -1);
    await scene.fold();
    assert.deepEqual(scene.asked[0].options.messages.slice(0, -1), kept);
  }
});

test('2.5: otherwise each becomes a one-line note in its place, and nothing else changes', async (t) => {
  const scene = await pictured(t, { model: { inputModalities: ['text'] } });
  const kept = scene.session.deriveMessages().slice(0, -1);
  await scene.fold();
  const sent = scene.asked[0].options.messages.slice(0, -1);
  assert.equal(sent.flatMap(({ content }) => typesIn(content)).includes('image'), false);
  assert.deepEqual(sent[0].content, [
    { type: 'text', text: '[image: sketch.png, image/png]' }, { type: 'text', text: 'like this' },
  ]);
  const note = /^\[image: [^\n]+, image\/png\]$/;
  const [first, second] = [sent[4], sent[5]].map(({ content }) => content[0].content);
  assert.equal(first[0].text, OUTPUT);
  assert.match(first[1].text, note);
  assert.match(second[0].text, note);
  const others = (messages) => messages.filter((_, at) => ![0, 4, 5].includes(at));
  assert.deepEqual(others(sent), others(kept));
  assert.deepEqual(sent.map(({ id, role, source }) => [id, role, source]), kept.map(({ id, role, source }) => [id, role, source]));
});

test('2.5, I2: no bytes become text, and a name cannot break the line', async (t) => {
  const bytes = 'iVBORw0KGgo'.repeat(500);
  const shot = image('a\nb]\r\nc.png');
  for (const inside of [false, true]) {
    const scene = await sceneOf(t, { model: { inputModalities: ['text'] }, invariants: false });
    scene.person('find the port');
    scene.mark();
    const block = { ...shot, data: bytes, attachment: { ...shot.attachment, data: bytes } };
    if (!inside) scene.person('see', block);
    scene.says({ t: 'one', calls: [['c1', 'read', '{}']] });
    if (inside) scene.person('see', block);
    scene.result('c1');
    scene.rewind();
    await scene.fold();
    const [{ options }] = scene.asked;
    const texts = options.messages.flatMap(({ content }) => content.map((one) => one.text ?? '')).join('\n');
    const note = texts.split('\n').filter((line) => line.includes('[image: '));
    assert.equal(note.length, 1);
    assert.match(note[0], /^(> )?\[image: .*c\.png, image\/png\]$/);
    assert.equal(JSON.stringify([options.messages, scene.words(scene.report().seq)]).includes('iVBOR'), false);
  }
});

test('I4: a person\'s picture in the exploration is named to the model and stays', async (t) => {
  const scene = await sceneOf(t, { model: { inputModalities: ['text'] } });
  scene.person('find the port');
  scene.mark();
  scene.look('c1');
  const picture = scene.person('look at this', image('screen.png'));
  scene.look('c2');
  scene.rewind();
  await scene.fold();
  assert.ok(scene.session.surface.nodes.includes(picture));
  assert.match(scene.asked[0].options.messages.map(({ content }) => textOf(content)).join('\n'), /\[image: screen\.png, image\/png\]/);
});
