/** Lays out what a release publishes: the entry without an addon, one package a platform with exactly one. */
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLATFORMS, addonName, packageName, platformManifest, platformReadme } from './platforms.js';
import { ROOT } from './project.js';

/** @returns the entry package's manifest as it stands in the repository. */
export function entryManifest() {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Writes `npm/<triple>/` for every platform: manifest, README, licence. The addon comes at publish. */
export function writePlatformFolders() {
  const entry = entryManifest();
  for (const triple of Object.keys(PLATFORMS)) {
    const folder = join(ROOT, 'npm', triple);
    mkdirSync(folder, { recursive: true });
    writeJson(join(folder, 'package.json'), platformManifest(triple, entry));
    writeFileSync(join(folder, 'README.md'), platformReadme(triple));
    copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  }
}

/**
 * Stages a release from the addons that are there.
 *
 * @param artifacts - a folder of addons, named as the loader names them.
 * @param folder - where the release is laid out; emptied first.
 * @returns `{ entry, platforms }`: the folder of the entry, and folders by triple.
 * @throws where no addon is there at all.
 */
export function stageRelease(artifacts, folder) {
  const built = (triple) => existsSync(join(artifacts, addonName(triple)));
  const triples = Object.keys(PLATFORMS).filter(built);
  if (triples.length === 0) {
    throw new Error(`no addon in ${artifacts}: build one first, or name the folder that holds them`);
  }
  rmSync(folder, { recursive: true, force: true });
  const manifest = entryManifest();
  const entry = join(folder, 'entry');
  mkdirSync(entry, { recursive: true });
  for (const name of manifest.files) cpSync(join(ROOT, name), join(entry, name), { recursive: true });
  const { scripts: _scripts, devDependencies: _development, pnpm: _pnpm, ...shipped } = manifest;
  const exact = triples.map((triple) => [packageName(triple), manifest.version]);
  const optionalDependencies = Object.fromEntries(exact);
  writeJson(join(entry, 'package.json'), { ...shipped, optionalDependencies });
  const platforms = Object.fromEntries(triples.map((triple) => {
    const target = join(folder, triple);
    cpSync(join(ROOT, 'npm', triple), target, { recursive: true });
    copyFileSync(join(artifacts, addonName(triple)), join(target, addonName(triple)));
    return [triple, target];
  }));
  return { entry, platforms };
}
