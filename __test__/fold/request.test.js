/** The request that asks for the report (docs/rewind.md 2.2). */
import assert from 'node:assert/strict';
import test from 'node:test';
import * as rewind from '../../index.js';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import { createLoop } from '../support/loop.js';
import { act, call, say } from '../support/script.js';
import { bashTool, readTool } from '../support/tools.js';
import { textOf } from '../support/wire.js';
import { OUTPUT, REPORT, sceneOf } from './scene.js';

const OTHER = { summarizationProvider: 'scripted', summarizationModel: 'cold-1' };

/** Plays the scripted steps on the real loop, the report included. */
async function played(t, main, { config = {}, prompts = ['find the port'] } = {}) {
  const loop = await createLoop({
    tools: [readTool(), bashTool()],
    plugins: [[rewind, config], [checkpoint, {}]],
    steps: { main, report: [say(REPORT)] },
    match: { report: ({ maxTokens }) => maxTokens === 1024 },
  });
  t.after(() => loop.dispose());
  const agent = await loop.agent();
  for (const prompt of prompts) await agent.prompt(prompt);
  assert.deepEqual(loop.rejected, []);
  const [asked, ...more] = loop.adapter.of('report');
  assert.equal(more.length, 0);
  const before = loop.requests[asked.index - 1];
  return { loop, agent, asked: asked.options, before: before.options, last: asked.options.messages.at(-1) };
}

const MARK = act(call('cp', 'checkpoint', { objective: 'which port\nis it' }));
const LOOK = [act(call('c1', 'read', { path: 'a' }), { reasoning: 'hm', text: 'looking' }), act(call('c2', 'bash', { command: 'ls' }))];
const FOLD = [act(call('rw', 'rewind')), say('done')];

test('own route: the last routed request, byte for byte, and one instruction', async (t) => {
  const { asked, before, last, agent } = await played(t, [say('hello'), MARK, ...LOOK, ...FOLD], { prompts: ['hi', 'find the port'] });
  const { messages, signal, maxTokens, ...rest } = asked;
  const { messages: routed, signal: own, maxTokens: budget, ...same } = before;
  assert.deepEqual(messages.slice(0, -1), routed);
  assert.equal(JSON.stringify(messages.slice(0, -1)), JSON.stringify(routed));
  assert.equal(rest.system, same.system);
  assert.equal(JSON.stringify(rest.tools), JSON.stringify(same.tools));
  assert.ok(rest.tools.length >= 4);
  assert.deepEqual([rest.provider, rest.model, rest.sessionId], [same.provider, same.model, agent.session.id]);
  assert.ok(signal instanceof AbortSignal);
  assert.deepEqual([maxTokens, budget === 1024, own === signal], [1024, false, false]);
  assert.equal(last.role, 'user');
  assert.equal(rewind.isRewindReportSource(last.source), false);
});

test('the instruction says where the exploration starts, repeats the objective, asks for the sections', async (t) => {
  for (const reportLanguage of ['en', 'zh']) {
    const { last } = await played(t, [MARK, ...LOOK, ...FOLD], { config: { reportLanguage } });
    const text = textOf(last.content);
    assert.match(text, /\b4\b.*`checkpoint`|`checkpoint`.*\b4\b|4 条消息.*`checkpoint`/);
    assert.match(text, reportLanguage === 'en' ? /mark 1\b/ : /标记 1/);
    assert.ok(text.includes('> which port\n> is it'), text);
    assert.equal(text.match(/^## /gm).length, 4);
    assert.equal(/[\u4e00-\u9fff]/.test(text), reportLanguage === 'zh');
  }
});

test('the message with the rewind call is not sent, nor anything behind it', async (t) => {
  const both = [call('c3', 'bash', { command: 'pwd' }), call('rw', 'rewind'), call('c4', 'bash', { command: 'id' })];
  const { asked, before } = await played(t, [MARK, ...LOOK, act(both), say('done')]);
  assert.deepEqual(asked.messages.slice(0, -1), before.messages);
});

test('siblings in the message of the mark are sent behind their calls', async (t) => {
  const both = [call('cp', 'checkpoint'), call('s1', 'read', { path: 'a' })];
  const { asked, before, last } = await played(t, [act(both), ...FOLD]);
  assert.deepEqual(asked.messages.slice(0, -1), before.messages);
  assert.match(textOf(last.content), /\bthe last message before this one\b/);
});

test('asked for by code, the last answer is sent too', async (t) => {
  const { loop, agent } = await played(t, [MARK, ...LOOK, act(call('rw', 'rewind')), say('folded'), MARK, ...LOOK, say('It is.'), say('It is 7777.')], {
    prompts: ['find the port', 'and again'],
  });
  loop.script.push('report', say(REPORT));
  const shown = agent.session.deriveMessages();
  await loop.ctx.rewind.rewind(agent.agent, new AbortController().signal);
  const [, second] = loop.adapter.of('report');
  assert.deepEqual(second.options.messages.slice(0, -1), shown);
  assert.equal(textOf(second.options.messages.at(-2).content), 'It is 7777.');
  assert.deepEqual(loop.rejected, []);
});

test('another route: system, the turn\'s prompt, the region, the instruction', async (t) => {
  const { asked, before, last } = await played(t, [say('hello'), ...LOOK, MARK, ...LOOK, ...FOLD], {
    config: OTHER, prompts: ['hi', 'find the port'],
  });
  assert.deepEqual([asked.provider, asked.model], ['scripted', 'cold-1']);
  assert.equal(asked.system, before.system);
  const { messages } = asked;
  assert.equal(textOf(messages[0].content), 'find the port');
  assert.deepEqual(messages.slice(1, -1), before.messages.slice(-4));
  assert.match(textOf(last.content), /\b4 messages\b|last 4 /);
});

test('the own route given by name is the own route', async (t) => {
  const config = { summarizationProvider: 'scripted', summarizationModel: 'scripted-1' };
  const { asked, before } = await played(t, [MARK, ...LOOK, ...FOLD], { config });
  assert.deepEqual(asked.messages.slice(0, -1), before.messages);
});

test('another route: siblings go with the message that called them', async (t) => {
  const both = [call('cp', 'checkpoint'), call('s1', 'read', { path: 'a' })];
  const { asked } = await played(t, [act(both), ...LOOK, ...FOLD], { config: OTHER });
  assert.deepEqual(asked.messages.map(({ role, source }) => source.kind ?? role), [
    'user', 'model', 'tool', 'tool', 'model', 'tool', 'model', 'tool', 'plugin',
  ]);
});

/** A scene with a routed request in its log, whose turn began with a prompt. */
async function routedScene(t, options) {
  const scene = await sceneOf(t, options);
  const header = { config: { provider: 'scripted', model: 'scripted-1' }, system: 'Be careful.' };
  scene.append('request/header', { header, reason: 'initial' });
  scene.person('find the port');
  return scene;
}

const sent = (scene) => scene.asked[0].options.messages;

test('a fault from before the region: the overridden form, even on the own route', async (t) => {
  const scene = await routedScene(t);
  scene.says({ t: 'a call that was lost', calls: [['lost', 'bash', '{}']] });
  scene.person('go on');
  scene.mark();
  const region = scene.look('c1').map((seq) => scene.session.deriveEventMessage(scene.session.events[seq]));
  scene.rewind();
  await scene.fold();
  assert.deepEqual(sent(scene).slice(0, -1).map(({ content }) => textOf(content)).slice(0, 2), ['find the port', 'go on']);
  assert.deepEqual(sent(scene).slice(2, -1), region);
  assert.equal(scene.asked[0].options.system, 'Be careful.');
  assert.deepEqual(scene.loop.rejected, []);
});

test('an open call behind the region: the routed form is cut before it', async (t) => {
  const scene = await routedScene(t);
  scene.mark();
  scene.look('c1');
  const kept = scene.session.deriveMessages();
  scene.says({ t: 'a call that was lost', calls: [['lost', 'bash', '{}']] });
  scene.person('go on');
  scene.look('c2');
  scene.rewind();
  await scene.fold();
  assert.deepEqual(sent(scene).slice(0, -1), kept);
  assert.deepEqual(scene.loop.rejected, []);
});

test('a region that no provider takes as messages is quoted in the instruction', async (t) => {
  const scene = await routedScene(t, { invariants: false });
  scene.mark();
  scene.says({ r: 'let me think', t: 'two at once', calls: [['a', 'read', '{"path":"x"}']] });
  scene.person('only in staging!\nplease');
  scene.result('a');
  scene.rewind();
  await scene.fold();
  assert.equal(sent(scene).length, 1);
  const text = textOf(sent(scene)[0].content);
  for (const part of ['find the port', 'let me think', 'two at once', 'read', '{"path":"x"}', '> only in staging!\n> please', '> a line that nobody']) {
    assert.ok(text.includes(part), `${part} in ${text.slice(0, 400)}`);
  }
  assert.deepEqual(scene.loop.rejected, []);
});

test('W3: empty messages are not sent on another route', async (t) => {
  const scene = await routedScene(t, { config: OTHER });
  scene.mark();
  scene.plugin('reminder', '');
  scene.look('c1');
  scene.says({ r: 'only a thought' });
  scene.look('c2', '');
  scene.rewind();
  const { foldedNodes } = await scene.fold();
  assert.equal(foldedNodes, 6);
  assert.deepEqual(scene.loop.rejected, []);
  assert.ok(sent(scene).every(({ content }) => content.every((block) => block.type !== 'text' || block.text !== '')));
});

test('without a routed request so far, the agent\'s own route and no system', async (t) => {
  const scene = await sceneOf(t);
  scene.person('find the port');
  scene.mark();
  scene.look('c1', OUTPUT);
  scene.rewind();
  await scene.fold();
  const [{ options }] = scene.asked;
  assert.deepEqual([options.provider, options.model, 'system' in options, 'tools' in options], ['scripted', 'scripted-1', false, false]);
  assert.equal(options.messages.length, 4);
});
