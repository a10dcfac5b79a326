/**
 * What a person reads when the plugin cannot start: one sentence that says what is wrong and what is
 * expected.
 */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { platformTriple } from '../../plugin/platform.js';
import { prepareCli } from './scenario.js';

async function bootWith(t, config) {
  const cli = await prepareCli(t, { rows: [{ id: 'tool-rewind', config }] });
  const { code, stdout, stderr } = await cli.run('never reached');
  assert.equal(code, 1, stdout);
  assert.deepEqual(cli.provider.requests, []);
  return stderr;
}

test('an unknown key is named, with the nearest known one', async (t) => {
  const words = await bootWith(t, { maxTokns: 5 });
  assert.match(words, /maxTokns is not a setting; did you mean maxTokens\?/);
});

test('an invalid value is named, with what is expected', async (t) => {
  assert.match(await bootWith(t, { reportLanguage: 'fr' }), /reportLanguage.*"en" \| "zh".*fr/);
});

test('a provider without a model is refused', async (t) => {
  const words = await bootWith(t, { summarizationProvider: 'deepseek-official' });
  assert.match(words, /summarizationModel is missing/);
});

test('without an addon for the platform the boot says which, and how to build it', async (t) => {
  const cli = await prepareCli(t, {});
  const installed = join(cli.home, 'profiles', 'headless', 'node_modules', '@dpskh', 'tool-rewind');
  const addons = readdirSync(installed).filter((name) => name.endsWith('.node'));
  assert.equal(addons.length, 1);
  rmSync(join(installed, addons[0]));
  const { code, stderr } = await cli.run('never reached');
  assert.equal(code, 1);
  assert.ok(stderr.includes(`@dpskh/tool-rewind has no native core for ${platformTriple()}`), stderr);
  assert.match(stderr, /build it from the repository with "npm run build" \(needs Rust\)/);
});
