/**
 * What `npm run pack:local` puts into the tarball: what is exported, this platform's addon, and nothing else.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { platformTriple } from '../plugin/platform.js';
import { packLocal } from '../scripts/lib/pack.js';

test('the tarball holds every exported file, one addon and no script', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tool-rewind-pack-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const tarball = packLocal(folder);
  execFileSync('tar', ['-xzf', tarball, '-C', folder]);
  const listed = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).split('\n').filter(Boolean)
    .map((path) => path.replace(/^package\//, ''));

  const source = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const packed = JSON.parse(readFileSync(join(folder, 'package', 'package.json'), 'utf8'));
  const exported = Object.values(source.exports)
    .flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)))
    .filter((path) => path.startsWith('./')).map((path) => path.slice(2));
  assert.ok(exported.length > 2);
  for (const path of [...exported, source.dsh.bundle.patch.slice(2), 'README.md', 'LICENSE', 'docs/rewind.md']) {
    assert.ok(listed.includes(path), `${path} is missing`);
  }
  assert.deepEqual(listed.filter((path) => path.endsWith('.node')), [`tool-rewind.${platformTriple()}.node`]);
  const roots = new Set([...source.files, 'package.json', `tool-rewind.${platformTriple()}.node`]);
  assert.deepEqual(listed.filter((path) => !roots.has(path.split('/')[0])), []);
  assert.equal(packed.scripts, undefined);
  assert.equal(packed.devDependencies, undefined);
  assert.deepEqual(packed.dependencies, source.dependencies);
  assert.deepEqual(packed.peerDependencies, source.peerDependencies);
});
