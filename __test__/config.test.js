/** Strict config, docs/rewind.md 4.6: every fault is named, and a bad row fails the boot. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Context } from '@deepseek-ai/cordis';
import Include from '@deepseek-ai/cordis-plugin-include';
import Loader from '@deepseek-ai/cordis-plugin-loader';
import z from '@deepseek-ai/schemastery';
import { strict } from '../plugin/host/config.js';

const schema = () => strict(
  z.object({
    toolName: z.string().min(1).default('rewind'),
    maxTokens: z.number().min(1).max(65536).step(1).default(1024),
    ratio: z.number().min(0).max(1).default(0.5),
    language: z.union(['en', 'zh']).default('en'),
    tools: z.array(z.string()).default(['read']),
    waits: z.array(z.natural().min(1)),
    table: z.dict(z.object({ act: z.union(['read', 'tell']).required(), depth: z.natural().max(9) })),
    least: z.number().min(2),
    most: z.number().max(3),
    provider: z.string(),
    model: z.string(),
  }),
  'rewind config',
  ({ provider, model }) => ((provider === undefined) === (model === undefined)
    ? undefined
    : 'provider and model must be set together'),
);

const DEFAULTS = {
  toolName: 'rewind', maxTokens: 1024, ratio: 0.5, language: 'en', tools: ['read'], waits: [], table: {},
};

const messages = (raw) => schema()['~standard'].validate(raw).issues?.map((issue) => issue.message);

for (const raw of [undefined, null, {}, { tools: null }]) {
  test(`${JSON.stringify(raw)} takes the defaults`, () => {
    assert.deepEqual(schema()['~standard'].validate(raw), { value: DEFAULTS });
    assert.deepEqual(schema()(raw), DEFAULTS);
  });
}

test('given keys are kept, absent optional keys stay absent', () => {
  const raw = { maxTokens: 7, provider: 'p', model: 'm' };
  assert.deepEqual(schema()(raw), { ...DEFAULTS, ...raw });
});

for (const [raw, expected] of [
  [{ maxToken: 1 }, 'maxToken is not a setting; did you mean maxTokens?'],
  [{ TOOLS: [] }, 'TOOLS is not a setting; did you mean tools?'],
  [{ langauge: 'en' }, 'langauge is not a setting; did you mean language?'],
  [{ xyzzyxyzzy: 1 }, 'xyzzyxyzzy is not a setting. Known settings: toolName, maxTokens,'],
  [{ foo: 1 }, 'foo is not a setting. Known settings: toolName, maxTokens,'],
  [{ mo: 1 }, 'mo is not a setting. Known settings: toolName, maxTokens,'],
  [{ modle: 'm' }, 'modle is not a setting; did you mean model?'],
  [{ maxTokens: 0 }, 'maxTokens expected a whole number from 1 to 65536 but got 0'],
  [{ maxTokens: 65537 }, 'maxTokens expected a whole number from 1 to 65536 but got 65537'],
  [{ maxTokens: 1.5 }, 'maxTokens expected a whole number from 1 to 65536 but got 1.5'],
  [{ maxTokens: '5' }, 'maxTokens expected a whole number from 1 to 65536 but got "5"'],
  [{ maxTokens: true }, 'maxTokens expected a whole number from 1 to 65536 but got true'],
  [{ ratio: NaN }, 'ratio expected a number from 0 to 1 but got NaN'],
  [{ ratio: -Infinity }, 'ratio expected a number from 0 to 1 but got -Infinity'],
  [{ least: 1 }, 'least expected a number from 2 but got 1'],
  [{ least: Infinity }, 'least expected a number from 2 but got Infinity'],
  [{ most: 4 }, 'most expected a number up to 3 but got 4'],
  [{ waits: [1, 0] }, 'waits[1] expected a whole number from 1 but got 0'],
  [{ waits: 5 }, 'waits expected array but got 5'],
  [{ table: 5 }, 'table expected object but got 5'],
  [{ table: { grep: 5 } }, 'table.grep expected object but got 5'],
  [{ table: { grep: {} } }, 'table.grep.act missing required value'],
  [{ table: { grep: { act: 'eat' } } }, 'table.grep.act expected "read" | "tell" but got "eat"'],
  [{ table: { grep: { act: 'read', depht: 1 } } },
    'table.grep.depht is not a setting; did you mean depth? Known settings: act, depth.'],
  [{ table: { grep: { act: 'read', depth: 10 } } }, 'table.grep.depth expected a whole number from 0 to 9 but got 10'],
  [{ language: 'fr' }, 'language expected "en" | "zh" but got "fr"'],
  [{ toolName: '' }, 'toolName expected string length >= 1 but got 0 (value "")'],
  [{ tools: ['read', 3] }, 'tools[1] expected string but got 3'],
  [{ provider: 'p' }, 'provider and model must be set together'],
  [['toolName'], 'expected an object of settings but got ["toolName"]'],
  ['rewind', 'expected an object of settings but got "rewind"'],
]) {
  test(`${JSON.stringify(raw)} is refused: ${expected}`, () => {
    const found = messages(raw);
    assert.equal(found.length, 1);
    assert.ok(found[0].startsWith(`rewind config: ${expected}`), found[0]);
    assert.throws(() => schema()(raw), { name: 'TypeError', message: found[0] });
  });
}

test('every fault is reported at once', () => {
  const found = messages({ toolname: 'x', maxTokens: -1, language: 3 });
  assert.deepEqual(found.map((text) => text.split(' ')[2]), ['toolname', 'maxTokens', 'language']);
});

test('a typo deep in the row is named beside the fault that it causes', () => {
  const found = messages({ table: { grep: { atc: 'read' }, find: { act: 'tell', dept: 1 } } });
  assert.deepEqual(found, [
    'rewind config: table.grep.atc is not a setting; did you mean act? Known settings: act, depth.',
    'rewind config: table.grep.act missing required value',
    'rewind config: table.find.dept is not a setting; did you mean depth? Known settings: act, depth.',
  ]);
});

test('it stays a schemastery object schema', () => {
  assert.equal(schema().type, 'object');
  assert.deepEqual(Object.keys(schema().dict), [
    ...Object.keys(DEFAULTS), 'least', 'most', 'provider', 'model',
  ]);
  assert.equal(schema().toString().startsWith('{ toolName?: string'), true);
});

/** Boots a cordis.yml of one row through the real Loader. */
async function boot(row) {
  const folder = await mkdtemp(join(tmpdir(), 'rewind-config-'));
  try {
    const host = new URL('../plugin/host/config.js', import.meta.url).href;
    const schemastery = import.meta.resolve('@deepseek-ai/schemastery');
    await writeFile(join(folder, 'plugin.mjs'), `
      import z from ${JSON.stringify(schemastery)};
      import { strict } from ${JSON.stringify(host)};
      export const name = 'sample';
      export const Config = strict(z.object({ maxTokens: z.number().min(1).default(9) }), 'sample config');
      export function apply(ctx, config) { ctx.provide('sampleConfig', config); }
    `);
    const rows = [{ id: 'sample', name: './plugin.mjs', ...row }];
    await writeFile(join(folder, 'cordis.yml'), JSON.stringify(rows));
    const ctx = new Context();
    await ctx.plugin(Loader, { baseUrl: pathToFileURL(`${folder}/`).href });
    ctx.loader.builtins.include = Include;
    try {
      await ctx.loader.create({ id: 'include', name: 'cordis:include', config: { path: './cordis.yml' } });
      return ctx.get('sampleConfig');
    } finally {
      await ctx.fiber.dispose();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('a valid row boots through the real Loader with its defaults', async () => {
  assert.deepEqual(await boot({}), { maxTokens: 9 });
  assert.deepEqual(await boot({ config: { maxTokens: 3 } }), { maxTokens: 3 });
});

test('an invalid row fails the boot and the message names key, value and expectation', async () => {
  await assert.rejects(boot({ config: { maxTokens: 0 } }), (error) => {
    assert.match(error.message, /failed to apply loader entry sample/);
    assert.match(error.message, /sample config: maxTokens expected a number from 1 but got 0/);
    return true;
  });
  await assert.rejects(
    boot({ config: { maxTokns: 5 } }),
    /sample config: maxTokns is not a setting; did you mean maxTokens\?/,
  );
});
