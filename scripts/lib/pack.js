/**
 * Packs the package as a person installs it before a release: one tarball that carries this platform's addon.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from './process.js';
import { ADDON, ROOT, environment } from './project.js';

/**
 * @param folder - where the tarball goes.
 * @returns the tarball's path.
 */
export function packLocal(folder) {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const stage = join(folder, 'package');
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });
  for (const name of manifest.files) {
    if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(stage, name), { recursive: true });
  }
  cpSync(ADDON, join(stage, basename(ADDON)));
  // Nothing of the repository's own machinery goes along: no scripts, no development dependencies.
  const { scripts: _scripts, devDependencies: _development, pnpm: _pnpm, ...shipped } = manifest;
  const files = [...manifest.files, basename(ADDON)];
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify({ ...shipped, files }, null, 2)}\n`);
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: stage, quiet: true, env: environment(),
  });
  rmSync(stage, { recursive: true });
  return join(folder, `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`);
}
