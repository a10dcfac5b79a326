/** The whole package in a composition through the real Loader: it folds, it goes without a trace, it comes back. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { parse } from 'yaml';
import { boot, row } from './support/loader.js';
import { ROUTE, createAgent } from './support/loop.js';
import { act, call, say } from './support/script.js';
import { ScriptedAdapter } from './support/scripted-adapter.js';
import { readTool } from './support/tools.js';

const HARNESS = [
  row('llm', '@deepseek-ai/dsh-llm'),
  row('session', '@deepseek-ai/dsh-session'),
  row('system-prompt', '@deepseek-ai/dsh-system-prompt', { persona: 'test' }),
  row('tools', '@deepseek-ai/dsh-tools'),
  row('agent', '@deepseek-ai/dsh-agent'),
  row('agent-loop', '@deepseek-ai/dsh-agent-loop'),
  row('session-projection', '@deepseek-ai/dsh-session-projection'),
  row('token-meter', '@deepseek-ai/dsh-token-meter'),
  row('commands', '@deepseek-ai/dsh-commands'),
];

/** The rows that the package's own bundle patch inserts, resolved from here. */
const BUNDLE = parse(readFileSync(new URL('../cordis.patch.yml', import.meta.url), 'utf8'))
  .flatMap(({ insert }) => insert).map(({ id, name, config }) => row(id, name, config));

const EXPLORATION = [
  act(call('m1', 'checkpoint', { objective: 'find the port' })), act(call('c1', 'read', { path: 'a' })),
];

async function bootWith(t, rows, steps) {
  const ctx = await boot(t, rows);
  const adapter = new ScriptedAdapter(steps);
  ctx.llm.registerAdapter([ROUTE.provider], adapter);
  ctx.tools.register(readTool());
  return { ctx, adapter };
}

function reportsIn({ session }) {
  return session.surface.nodes.map((seq) => session.events[seq])
    .filter(({ type, data }) => type === 'user/message' && data.source.plugin === 'rewind');
}

const ORDERS = { last: [...HARNESS, ...BUNDLE], first: [...BUNDLE, ...HARNESS] };
for (const [order, rows] of Object.entries(ORDERS)) {
  test(`the bundle's rows fold when they stand ${order}`, async (t) => {
    const { ctx, adapter } = await bootWith(t, rows, {
      main: [...EXPLORATION, act(call('w1', 'rewind')), say('done')], report: [say('The port is 7141.')],
    });
    const agent = await createAgent(ctx);
    assert.deepEqual(await agent.prompt('find the port'), { reason: { kind: 'completed' }, text: 'done' });
    assert.equal(reportsIn(agent).length, 1);
    assert.equal(agent.fault(), undefined);
    assert.deepEqual(adapter.rejected, []);
    assert.deepEqual(adapter.script.left, {});
  });
}

/** Mounts the package beside a running composition, as a person who adds it there does. */
async function mountBundle(ctx) {
  for (const entry of BUNDLE) await ctx.loader.create(entry);
  await ctx.loader.await();
}

test('a disposed package leaves nothing behind, and a mounted one starts afresh', async (t) => {
  const { ctx, adapter } = await bootWith(t, HARNESS, {
    main: [say('one'), ...EXPLORATION, act(call('w1', 'rewind')), say('two')], report: [say('The port is 7141.')],
  });
  await mountBundle(ctx);
  const names = () => ctx.tools.schemas().map(({ name }) => name).toSorted();
  const mounted = names();
  assert.ok(mounted.includes('rewind') && mounted.includes('checkpoint'));

  for (const { id } of BUNDLE) await ctx.loader.remove(id);
  assert.equal(ctx.get('rewind'), undefined);
  assert.equal(ctx.get('checkpoint'), undefined);
  assert.deepEqual(names(), ['read']);
  const agent = await createAgent(ctx);
  assert.equal(await agent.command('/rewind'), undefined);
  assert.equal((await agent.prompt('hello')).text, 'one');
  const [bare] = adapter.requests;
  assert.ok(!bare.messages[0].content.includes('checkpoint'));
  assert.deepEqual(bare.options.tools.map(({ name }) => name), ['read']);

  await mountBundle(ctx);
  assert.deepEqual(names(), mounted);
  assert.equal((await agent.prompt('find the port')).text, 'two');
  assert.equal(reportsIn(agent).length, 1);
  assert.equal(agent.fault(), undefined);
});

test('a fold that is under way when the package goes writes nothing', async (t) => {
  const { ctx, adapter } = await bootWith(t, HARNESS, {
    main: [...EXPLORATION, act(call('w1', 'rewind')), say('done')], report: [say('half', { hang: true })],
  });
  await mountBundle(ctx);
  const agent = await createAgent(ctx);
  const turn = agent.prompt('find the port');
  while (adapter.of('report').length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await ctx.loader.remove('tool-rewind');
  const { reason } = await turn;
  assert.equal(reason.kind, 'completed');
  assert.deepEqual(reportsIn(agent), []);
  const [failed] = agent.results().filter(({ callId }) => callId === 'w1');
  assert.equal(failed.isError, true);
  assert.match(failed.text, /the fold was ended: its plugin was disposed/);
  assert.equal(agent.fault(), undefined);
});
