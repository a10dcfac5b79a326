/** `npm run release:check`: what the publish job checks, here and now, with this platform's addon. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { prepare } from './lib/prepare.js';
import { main, run } from './lib/process.js';
import { ADDON, ROOT, environment } from './lib/project.js';
import { PLATFORMS, platformManifest, platformReadme } from './lib/platforms.js';
import { entryManifest, stageRelease } from './lib/stage.js';

/** Bytes. The addon holds everything that decides; the entry is JavaScript, types and documents. */
const LIMITS = { addon: 3_000_000, entryUnpacked: 1_500_000 };

const faults = [];
function demand(holds, fault) {
  if (!holds) faults.push(fault);
}

function text(...path) {
  return existsSync(join(ROOT, ...path)) ? readFileSync(join(ROOT, ...path), 'utf8') : '';
}

/** The files a package would publish, by npm's own account. */
function packed(folder) {
  const shell = process.platform === 'win32';
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: folder, encoding: 'utf8', env: environment(), shell,
  });
  if (status !== 0) throw new Error(`npm pack failed in ${folder}: ${stderr}`);
  const parsed = JSON.parse(stdout);
  const [pack] = Array.isArray(parsed) ? parsed : Object.values(parsed);
  return { files: pack.files.map(({ path }) => path), size: pack.unpackedSize };
}

function checkVersions(entry) {
  const cargo = /^version = "([^"]+)"/m.exec(text('Cargo.toml'))?.[1];
  demand(cargo === entry.version, `Cargo.toml is ${cargo}, package.json ${entry.version}`);
  const locked = /name = "tool-rewind"\nversion = "([^"]+)"/.exec(text('Cargo.lock'))?.[1];
  demand(locked === entry.version, `Cargo.lock has tool-rewind ${locked}, package.json ${entry.version}`);
  demand(text('CHANGELOG.md').includes(`## ${entry.version}`), `CHANGELOG.md has no entry "## ${entry.version}"`);
  for (const triple of Object.keys(PLATFORMS)) {
    const manifest = `${JSON.stringify(platformManifest(triple, entry), null, 2)}\n`;
    const same = text('npm', triple, 'package.json') === manifest
      && text('npm', triple, 'README.md') === platformReadme(triple)
      && text('npm', triple, 'LICENSE') === text('LICENSE');
    const remedy = 'run "npm run release -- platforms"';
    demand(same, `npm/${triple} does not agree with package.json: ${remedy}`);
  }
}

function checkPacks({ entry, platforms }, manifest) {
  const { files, size } = packed(entry);
  demand(files.every((file) => !file.endsWith('.node')), 'the entry holds an addon');
  demand(size <= LIMITS.entryUnpacked, `the entry unpacks to ${size} bytes, more than ${LIMITS.entryUnpacked}`);
  const targets = Object.values(manifest.exports).flatMap((target) => (
    typeof target === 'string' ? [target] : Object.values(target)
  ));
  const documents = ['README.md', 'README.zh.md', 'LICENSE', 'CHANGELOG.md'];
  const wanted = [...targets, ...Object.values(manifest.bin ?? {}), manifest.dsh.bundle.patch, ...documents];
  for (const file of wanted) {
    const name = file.replace(/^\.\//, '');
    demand(name === 'package.json' || files.includes(name), `the entry lacks ${name}`);
  }
  for (const [triple, folder] of Object.entries(platforms)) {
    const pack = packed(folder);
    const addons = pack.files.filter((file) => file.endsWith('.node'));
    demand(addons.length === 1, `${triple} holds ${addons.length} addons`);
    demand(pack.size <= LIMITS.addon, `${triple} unpacks to ${pack.size} bytes, more than ${LIMITS.addon}`);
  }
}

await main(() => {
  prepare();
  const manifest = entryManifest();
  checkVersions(manifest);
  const artifacts = join(ROOT, 'dist', 'artifacts');
  rmSync(artifacts, { recursive: true, force: true });
  mkdirSync(artifacts, { recursive: true });
  copyFileSync(ADDON, join(artifacts, basename(ADDON)));
  const release = stageRelease(artifacts, join(ROOT, 'dist', 'release'));
  checkPacks(release, manifest);
  if (faults.length > 0) throw new Error(`not ready to publish:\n- ${faults.join('\n- ')}`);
  run('publint', ['--strict', release.entry], { cwd: ROOT, env: environment() });
  // The package is ESM alone, so the resolutions of CommonJS do not apply to it; ./client is a script of the browser,
  // which nobody imports.
  const args = ['--pack', release.entry, '--profile', 'esm-only', '--exclude-entrypoints', './client'];
  run('attw', args, { cwd: ROOT, env: environment() });
  console.log(`ready to publish ${manifest.version}`);
});
