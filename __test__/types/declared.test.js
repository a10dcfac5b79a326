/** The declared settings of every plugin are exactly those of its schema. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const ROOT = new URL('../../', import.meta.url);
const PLUGINS = {
  RewindConfig: ['index.js', 'index.d.ts'],
  ...Object.fromEntries([
    ['CheckpointConfig', 'checkpoint'], ['RecallConfig', 'recall'], ['PruneConfig', 'prune'],
    ['TurnMemoryConfig', 'turn-memory'],
  ].map(([name, folder]) => [name, [`plugin/${folder}/index.js`, `plugin/${folder}/index.d.ts`]])),
};

for (const [name, [code, types]] of Object.entries(PLUGINS)) {
  test(`${name} declares the settings that there are`, async () => {
    const { Config } = await import(new URL(code, ROOT));
    const declared = readFileSync(new URL(types, ROOT), 'utf8');
    const [, body] = new RegExp(`^export interface ${name} \\{\n([^]*?)^\\}`, 'm').exec(declared) ?? [];
    assert.ok(body, `${types} declares no ${name}`);
    const keys = [...body.matchAll(/^ {2}(\w+)\?:/gm)].map(([, key]) => key);
    assert.deepEqual(keys.toSorted(), Object.keys(Config.dict).toSorted());
  });
}
