/**
 * The web profile's shape: the host has no pruner, each agent preset has one in a realm of its own (input
 * 32).
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import Include from '@deepseek-ai/cordis-plugin-include';
import Loader from '@deepseek-ai/cordis-plugin-loader';
import { AgentPresets } from '@deepseek-ai/dsh-agent-presets';
import { createLoop } from '../support/loop.js';
import { say } from '../support/script.js';
import { readTool } from '../support/tools.js';
import { assertPriced, assertValid, page, prune, reads, receiptsOn, resultsOn } from './stage.js';

const MARKER = /characters cut by prune/;
const fromHarness = createRequire(import.meta.resolve('@deepseek-ai/dsh/package.json'));

/** One preset: compaction and pruner behind an `isolate`, as the shipped ones have them. */
function composition(thresholdChars) {
  return [
    {
      id: 'compaction',
      name: 'cordis:group',
      group: true,
      isolate: { compaction: true, toolResultPruner: true },
      config: [
        {
          id: 'compaction-basic',
          name: import.meta.resolve('@deepseek-ai/dsh-compaction-basic'),
          config: { auto: false },
        },
        {
          id: 'pruner',
          name: import.meta.resolve('@deepseek-ai/dsh-compaction-tool-result-pruner'),
          config: { thresholdChars, headChars: 1000, tailChars: 100 },
        },
      ],
    },
  ];
}

async function web(t, config, presets = { alpha: 4000, beta: 8000 }) {
  const folder = await mkdtemp(join(tmpdir(), 'prune-presets-'));
  for (const [id, threshold] of Object.entries(presets)) {
    await mkdir(join(folder, id));
    await writeFile(join(folder, id, 'agent.cordis.yml'), JSON.stringify(composition(threshold)));
  }
  const loop = await createLoop({
    model: { context: { contextWindow: 6_000 } },
    tools: [readTool({ '*': page('x', 500), 'a': page('a', 9_000), 'b': page('b', 9_000) })],
    steps: { main: [] },
    before: async (ctx) => {
      await ctx.plugin(Loader, { baseUrl: pathToFileURL(`${folder}/`).href });
      ctx.loader.builtins.include = Include;
      ctx.loader.builtins.group = (
        await import(pathToFileURL(fromHarness.resolve('@deepseek-ai/cordis-plugin-group')).href)
      ).default;
      await ctx.plugin(AgentPresets, {
        default: 'alpha',
        roots: [{ path: folder, trust: 'system' }],
        includeUserRoot: false,
      });
    },
  });
  const fiber = await loop.mount(
    prune,
    prune.Config({ judge: 'rules', preserveRecent: 1, minCandidatesForBudget: 1, ...config }),
  );
  t.after(async () => {
    await loop.dispose();
    await rm(folder, { recursive: true, force: true });
  });
  const agentOf = (id) =>
    loop.agent({
      async setup(agentCtx) {
        await loop.ctx.agentPresets.mount(agentCtx, id);
      },
    });
  const prunerOf = ({ agent }) => loop.ctx.agentPresets.serviceFor(agent, 'toolResultPruner');
  return { loop, fiber, agentOf, prunerOf };
}

const hooked = (service) =>
  ['pruneSession', 'compactRegion', 'compactNow', 'summarize'].filter((name) => Object.hasOwn(service, name));

test('input 32: agents of two presets get their own pruner hooked once, and freed', async (t) => {
  const { loop, fiber, agentOf, prunerOf } = await web(t, { compactReceipts: false });
  const alpha = await agentOf('alpha');
  const beta = await agentOf('beta');
  const other = await agentOf('beta');
  assert.equal(loop.ctx.get('toolResultPruner'), undefined, 'the host has none');
  assert.deepEqual(
    [alpha, beta, other].map((agent) => prunerOf(agent).config.thresholdChars),
    [4000, 8000, 8000],
  );
  assert.deepEqual(
    [alpha, beta].map((agent) => hooked(prunerOf(agent))),
    [['pruneSession'], ['pruneSession']],
  );

  for (const agent of [alpha, beta, other]) {
    loop.script.push('main', reads('a'), reads('b'), reads('a'), say('done'));
    await agent.prompt('read');
    assert.deepEqual(
      resultsOn(agent).map(({ text }) => MARKER.test(text)),
      [true, false, false],
    );
    assertValid(loop, agent);
    assertPriced(agent);
  }
  await fiber.dispose();
  assert.deepEqual(
    [alpha, beta].map((agent) => hooked(prunerOf(agent))),
    [[], []],
  );
});

test("an unjudged result follows the rule of the agent's own preset", async (t) => {
  const { loop, agentOf, prunerOf } = await web(
    t,
    { judge: 'nobody', compactReceipts: false },
    { alpha: 4000, beta: 20_000 },
  );
  for (const [id, expected] of [
    ['alpha', true],
    ['beta', false],
  ]) {
    const agent = await agentOf(id);
    let pruned;
    loop.script.push(
      'main',
      reads('a'),
      () => {
        ({ pruned } = prunerOf(agent).pruneSession(agent.session));
        return reads('x');
      },
      say('done'),
    );
    await agent.prompt('read');
    // The newest node is protected, and that is the only one at that moment.
    assert.equal(pruned.length, 0);
    loop.script.push('main', () => {
      ({ pruned } = prunerOf(agent).pruneSession(agent.session));
      return say('done');
    });
    await agent.prompt('again');
    assert.equal(pruned.length === 1, expected, id);
  }
});

test("receipts go through the compaction of the agent's preset", async (t) => {
  const { loop, fiber, agentOf } = await web(t, {
    receiptTransport: 'region',
    neverPruneTools: ['read'],
    compactSoftLimit: '50%',
  });
  const alpha = await agentOf('alpha');
  loop.script.push('main', reads('a'), reads('b'), reads('a'), reads('b'), reads('x'), say('done'));
  await alpha.prompt('read');
  assert.ok(alpha.surface().some(({ data }) => data.source?.plugin === 'compact'));
  assert.deepEqual(receiptsOn(alpha), []);
  const compaction = loop.ctx.agentPresets.serviceFor(alpha.agent, 'compaction');
  assert.deepEqual(hooked(compaction), ['compactRegion', 'compactNow', 'summarize']);
  assertValid(loop, alpha);
  assertPriced(alpha);
  await fiber.dispose();
  assert.deepEqual(hooked(compaction), []);
});

test("ours runs before the preset's own listeners at a step", async (t) => {
  const { loop, agentOf } = await web(t, { compactReceipts: false });
  const alpha = await agentOf('alpha');
  const order = [];
  const dispose = alpha.agent.ctx.on('agent/pre-step', async (_payload, next) => {
    order.push(resultsOn(alpha).map(({ text }) => MARKER.test(text)));
    return next();
  });
  loop.script.push('main', reads('a'), reads('b'), reads('a'), say('done'));
  await alpha.prompt('read');
  assert.deepEqual(order.at(-1), [true, false, false]);
  dispose();
});
