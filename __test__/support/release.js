/**
 * A release as the publish job makes it, entry and platform package as tarballs of their own, and a registry that
 * serves them: what a person gets who installs the package by its name.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ADDON, environment } from '../../scripts/lib/project.js';
import { entryManifest, stageRelease } from '../../scripts/lib/stage.js';

const json = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Rewrites a staged package's manifest. */
function rewrite(folder, change) {
  const path = join(folder, 'package.json');
  writeFileSync(path, JSON.stringify({ ...json(path), ...change }));
}

/**
 * Gives a staged release another version. The addon has its own compiled in, so the platform package tells the new
 * one in its place.
 */
function bump({ entry, platforms }, version) {
  const optional = json(join(entry, 'package.json')).optionalDependencies;
  const optionalDependencies = Object.fromEntries(Object.keys(optional).map((name) => [name, version]));
  rewrite(entry, { version, optionalDependencies });
  for (const folder of Object.values(platforms)) {
    const addon = readdirSync(folder).find((name) => name.endsWith('.node'));
    const code = `module.exports = { ...require('./${addon}'), version: () => '${version}' };\n`;
    writeFileSync(join(folder, 'bumped.cjs'), code);
    rewrite(folder, { version, main: 'bumped.cjs', files: [addon, 'bumped.cjs'] });
  }
}

/**
 * Packs a release with this platform's addon.
 *
 * @param version - its version; the repository's where absent.
 * @returns the packages, each `{ manifest, tarball }`, a tarball being its bytes.
 */
export function packRelease(version = entryManifest().version) {
  const folder = mkdtempSync(join(tmpdir(), 'tool-rewind-release-'));
  try {
    const artifacts = join(folder, 'artifacts');
    mkdirSync(artifacts);
    copyFileSync(ADDON, join(artifacts, basename(ADDON)));
    const release = stageRelease(artifacts, join(folder, 'release'));
    if (version !== entryManifest().version) bump(release, version);
    return [release.entry, ...Object.values(release.platforms)].map((stage) => {
      const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
      const name = execFileSync('npm', pack, { cwd: stage, encoding: 'utf8', env: environment() }).trim();
      return { manifest: json(join(stage, 'package.json')), tarball: readFileSync(join(folder, name)) };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Serves packages over HTTP as a registry does.
 *
 * @returns a promise of `{ npmrc, publish(packages), close() }`: the text of an `.npmrc` by which a package
 * manager asks it for the package's own scope, and for nothing else.
 */
export async function startRegistry() {
  const published = [];
  const file = ({ name, version }) => `/${name}/-/${version}.tgz`;
  const packument = (name) => {
    const own = published.filter(({ manifest }) => manifest.name === name);
    if (own.length === 0) return undefined;
    const versions = own.map(({ manifest, tarball }) => {
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
      return [manifest.version, { ...manifest, dist: { tarball: `${url}${file(manifest)}`, integrity } }];
    });
    return { name, 'dist-tags': { latest: own.at(-1).manifest.version }, versions: Object.fromEntries(versions) };
  };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url);
    const tarball = published.find(({ manifest }) => file(manifest) === path)?.tarball;
    const answer = tarball ?? JSON.stringify(packument(path.slice(1)));
    const type = tarball ? 'application/gzip' : 'application/json';
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': type });
    response.end(answer ?? '{}');
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    npmrc: `@dpskh:registry=${url}/\n`,
    publish: (packages) => published.push(...packages),
    close: () => new Promise((closed) => server.close(closed)),
  };
}
