/** The checkpoint plugin in real Loader compositions, alone and beside a provider (docs/rewind.md 5). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Context } from '@deepseek-ai/cordis';
import SessionStore from '@deepseek-ai/dsh-session';
import SystemPrompt from '@deepseek-ai/dsh-system-prompt';
import ToolRuntime from '@deepseek-ai/dsh-tools';
import * as checkpoint from '../plugin/checkpoint/index.js';
import { boot as bootWith } from './support/loader.js';

const HARNESS = [
  { id: 'sessions', name: import.meta.resolve('@deepseek-ai/dsh-session') },
  { id: 'prompt', name: import.meta.resolve('@deepseek-ai/dsh-system-prompt'), config: { persona: 'test' } },
  { id: 'tools', name: import.meta.resolve('@deepseek-ai/dsh-tools') },
];
const OURS = { id: 'ours', name: new URL('../plugin/checkpoint/index.js', import.meta.url).href };
const FOREIGN = { id: 'foreign', name: './foreign.mjs' };
const TOOLS = import.meta.resolve('@deepseek-ai/dsh-tools');

const MODULES = {
  'foreign.mjs': `
    import { defineTool } from ${JSON.stringify(TOOLS)};
    await new Promise((resolve) => setTimeout(resolve, 60));
    export const name = 'other-checkpoint';
    export const inject = ['tools'];
    export function apply(ctx) {
      ctx.provide('checkpoint', { foreign: true });
      ctx.tools.register(defineTool({
        name: 'checkpoint', description: 'foreign', parameters: {},
        output: { schema: { type: 'string' }, render: () => [] }, execute: async () => '',
      }));
    }`,
  'squatter.mjs': `
    import { defineTool } from ${JSON.stringify(TOOLS)};
    export const name = 'squatter';
    export const inject = ['tools'];
    export function apply(ctx) {
      ctx.tools.register(defineTool({
        name: 'checkpoint', description: 'squatter', parameters: {},
        output: { schema: { type: 'string' }, render: () => [] }, execute: async () => '',
      }));
    }`,
  'flaky.mjs': `
    let runs = 0;
    export const name = 'flaky';
    export function apply() {
      runs += 1;
      if (runs > 1) throw new Error('flaky failed');
    }`,
  'runner.mjs': `
    export const name = 'runner';
    export const inject = ['tools'];
    export function apply(ctx) {
      (async () => {
        await ctx.get('loader')?.await();
        await Promise.resolve();
        ctx.root.firstLook = { tool: ctx.tools.get('checkpoint'), service: ctx.get('checkpoint') };
      })();
    }`,
};

/** Boots a `cordis.yml` of the given rows, with the modules above beside it. */
const boot = (t, rows) => bootWith(t, rows, MODULES);

const said = (ctx) => ctx.logger.buffer
  .filter(({ name }) => name === checkpoint.name)
  .map(({ type, args }) => `${type}: ${args.map((arg) => arg.message ?? arg).join(' ')}`);

const ours = (ctx) => ctx.get('checkpoint') instanceof checkpoint.CheckpointService;

test('alone it serves ctx.checkpoint and the tool, and says so', async (t) => {
  for (const rows of [[...HARNESS, OURS], [OURS, ...HARNESS]]) {
    const ctx = await boot(t, rows);
    assert.ok(ours(ctx));
    assert.match(ctx.tools.get('checkpoint').description, /Mark this point/);
    assert.deepEqual(said(ctx), ['info: provides ctx.checkpoint and the tool "checkpoint"']);
  }
});

test('beside another provider it stands aside in either load order, and says so', async (t) => {
  for (const rows of [[FOREIGN, OURS], [OURS, FOREIGN]]) {
    const ctx = await boot(t, [...HARNESS, ...rows]);
    assert.deepEqual(ctx.get('checkpoint'), { foreign: true });
    assert.equal(ctx.tools.get('checkpoint').description, 'foreign');
    assert.deepEqual(said(ctx), [
      'info: ctx.checkpoint is provided by "other-checkpoint": '
        + 'the bundled service and its tool "checkpoint" stand aside',
    ]);
  }
});

test('two rows of it are one provider', async (t) => {
  const ctx = await boot(t, [...HARNESS, OURS, { ...OURS, id: 'again', config: { toolName: 'mark' } }]);
  assert.ok(ours(ctx));
  assert.equal(said(ctx).length, 2);
  assert.match(said(ctx)[1], /ctx\.checkpoint is provided by "tool-rewind-checkpoint"/);
});

test('a provider that arrives after loading is refused by cordis', async (t) => {
  const ctx = await boot(t, [...HARNESS, OURS]);
  await assert.rejects(
    ctx.loader.create(FOREIGN),
    /service "checkpoint" has been registered at <tool-rewind-checkpoint>/,
  );
  assert.ok(ours(ctx));
  assert.match(ctx.tools.get('checkpoint').description, /Mark this point/);
});

test('beside a tool of that name and no provider nothing is half mounted, and the log helps', async (t) => {
  const ctx = await boot(t, [...HARNESS, OURS, { id: 'squatter', name: './squatter.mjs' }]);
  assert.equal(ctx.get('checkpoint'), undefined);
  assert.equal(ctx.tools.get('checkpoint').description, 'squatter');
  assert.equal(said(ctx).length, 1);
  assert.match(said(ctx)[0], /^error: another plugin has a tool "checkpoint".*set "toolName"/);
  const renamed = await boot(t, [
    ...HARNESS, { ...OURS, config: { toolName: 'mark' } }, { id: 'squatter', name: './squatter.mjs' },
  ]);
  assert.ok(ours(renamed));
});

test('it is there for whoever starts when the composition is loaded', async (t) => {
  const runner = { id: 'runner', name: './runner.mjs' };
  for (const rows of [[...HARNESS, OURS, runner], [...HARNESS, runner, OURS], [runner, OURS, ...HARNESS]]) {
    const { firstLook } = await boot(t, rows);
    assert.notEqual(firstLook.tool, undefined);
    assert.notEqual(firstLook.service, undefined);
  }
});

test('an invalid row fails the boot and is named', async (t) => {
  for (const [config, message] of [
    [{ toolname: 'x' }, /checkpoint config: toolname is not a setting; did you mean toolName\?/],
    [{ toolName: 'mark it' }, /checkpoint config: toolName expect.*\(value "mark it"\)/],
    [{ rewindToolName: 3 }, /checkpoint config: rewindToolName expected string but got 3/],
  ]) {
    await assert.rejects(boot(t, [...HARNESS, { ...OURS, config }]), message);
  }
});

test('removal leaves nothing behind, and a change of the row is followed', async (t) => {
  const ctx = await boot(t, [...HARNESS, OURS]);
  const include = ctx.loader.resolve('include').subtree;
  const settled = async () => {
    await ctx.loader.await();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const hooks = () => ctx.events.dispatch('emit', ['session/event']).length;
  assert.equal(hooks(), 1);
  await include.update('ours', { config: { toolName: 'mark' } });
  await settled();
  assert.ok(ours(ctx));
  assert.equal(ctx.tools.get('checkpoint'), undefined);
  assert.equal(ctx.tools.get('mark').name, 'mark');
  assert.equal(hooks(), 1);
  await include.remove('ours');
  await settled();
  assert.deepEqual([ctx.get('checkpoint'), ctx.tools.get('mark'), hooks()], [undefined, undefined, 0]);
  await ctx.loader.create(FOREIGN);
  assert.deepEqual(ctx.get('checkpoint'), { foreign: true });
});

test('a failure elsewhere does not keep it from starting', async (t) => {
  const ctx = await boot(t, [...HARNESS, OURS, { id: 'flaky', name: './flaky.mjs' }]);
  const include = ctx.loader.resolve('include').subtree;
  await assert.rejects(include.resolve('flaky').fiber.restart(), /flaky failed/);
  await include.update('ours', { config: { toolName: 'mark' } });
  await assert.rejects(ctx.loader.await(), /flaky failed/);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(ours(ctx));
  assert.equal(ctx.tools.get('mark').name, 'mark');
});

test('removed before the composition is loaded, it never starts', async (t) => {
  const ctx = await boot(t, HARNESS);
  const slow = ctx.loader.create(FOREIGN);
  await ctx.loader.create(OURS);
  assert.equal(ctx.get('checkpoint'), undefined);
  await ctx.loader.remove('ours');
  await slow;
  await ctx.loader.await();
  assert.deepEqual(said(ctx), []);
  assert.deepEqual(ctx.get('checkpoint'), { foreign: true });
});

/** The services it needs, without a loader. */
async function plain(t) {
  const ctx = new Context();
  t.after(() => ctx.fiber.dispose());
  await ctx.plugin(SessionStore);
  await ctx.plugin(SystemPrompt, { persona: 'test' });
  await ctx.plugin(ToolRuntime);
  return ctx;
}

test('without a loader it starts at once', async (t) => {
  const ctx = await plain(t);
  const fiber = ctx.plugin(checkpoint);
  await fiber;
  assert.ok(ours(ctx));
  await fiber.dispose();
  assert.deepEqual([ctx.get('checkpoint'), ctx.tools.get('checkpoint')], [undefined, undefined]);
});

test('without a loader a taken tool name fails the plugin', async (t) => {
  const ctx = await plain(t);
  const tool = { name: 'checkpoint', output: { schema: {}, render: () => [] }, execute: async () => '' };
  ctx.tools.register({ ...tool, description: 'squatter', parameters: {} });
  await assert.rejects(async () => ctx.plugin(checkpoint), /another plugin has a tool "checkpoint"/);
  assert.equal(ctx.get('checkpoint'), undefined);
});

test('without a loader it stands aside for a provider that is there', async (t) => {
  const ctx = await plain(t);
  ctx.provide('checkpoint', { foreign: true });
  await ctx.plugin(checkpoint);
  assert.deepEqual(ctx.get('checkpoint'), { foreign: true });
  assert.equal(ctx.tools.get('checkpoint'), undefined);
  assert.match(said(ctx)[0], /stand aside/);
});
