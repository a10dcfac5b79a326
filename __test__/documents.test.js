/**
 * The documents name commands, files and settings, and the sources cite sections of the documents: all of them exist,
 * and the commands are run here or named apart.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, environment } from '../scripts/lib/project.js';

const DOCUMENTS = ['README.md', 'README.zh.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
  .concat(readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`));
const read = (name) => readFileSync(join(ROOT, name), 'utf8');
const MANIFEST = JSON.parse(read('package.json'));

/** Test commands, publishing and servers are not run from a test; each says where it is run instead. */
const ELSEWHERE = {
  demo: 'the test of the demo, __test__/e2e', test: 'this very run', 'test:web': '.ci/run', check: '.ci/run', laws: '.ci/run',
  bench: 'a measurement', 'bench:prune': 'a measurement', 'bench:turns': 'a measurement', fidelity: 'a measurement',
  soak: 'a measurement', experience: 'a measurement', fuzz: '.ci/run', 'release:check': '.ci/run', 'pack:local': 'every end-to-end test packs so',
  build: 'every command builds so',
};

function run(...args) {
  return spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', env: environment() });
}

test('every npm command that a document names is a script, and is run by a test or named apart', () => {
  const named = new Set(DOCUMENTS.flatMap((name) => (
    [...read(name).matchAll(/npm run ([a-z][\w:-]*)|npm (test)\b/g)].map(([, script, bare]) => script ?? bare)
  )));
  const inline = new Set(['docs', 'release']);
  for (const script of named) {
    assert.ok(MANIFEST.scripts[script], `a document names "npm run ${script}", which is no script`);
    assert.ok(script in ELSEWHERE || inline.has(script), `"npm run ${script}" is run by no test`);
  }
  for (const script of Object.keys(MANIFEST.scripts)) {
    assert.ok(DOCUMENTS.some((name) => new RegExp(`npm (run )?${script}\\b`).test(read(name))), `no document names ${script}`);
  }
});

test('both languages of the README give the same measured figures', () => {
  const figures = (name) => [...read(name).matchAll(/<!-- measured:(\w+) -->([^]*?)<!-- \/measured -->/g)]
    .map(([, table, text]) => [table, text.split('\n').filter((line) => line.startsWith('|')).map((line) => (
      line.split('|').slice(2).join('|').match(/\d[\d.,]*/g)
    ))]);
  const [english, chinese] = ['README.md', 'README.zh.md'].map(figures);
  assert.ok(english.length >= 2, 'the README holds measured tables');
  assert.deepEqual(chinese, english);
});

test('npm run docs agrees with the schemas', () => {
  const { status, stderr } = run('scripts/docs.js', '--inside', '--check');
  assert.equal(status, 0, stderr);
});

test('npm run release says how it is called, and platforms leaves what is there as it is', () => {
  const usage = run('scripts/release.js');
  assert.equal(usage.status, 1);
  assert.match(usage.stderr, /usage: npm run release -- stage ARTIFACTS \| platforms/);
  const folders = readdirSync(join(ROOT, 'npm'));
  const before = folders.map((triple) => read(`npm/${triple}/package.json`));
  assert.equal(run('scripts/release.js', 'platforms').status, 0);
  assert.deepEqual(folders.map((triple) => read(`npm/${triple}/package.json`)), before);
});

test('the audit as the README names it', { skip: existsSync(join(ROOT, 'bin')) ? false : 'no audit in this build' }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tool-rewind-documents-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const help = run('bin/dsh-rewind.js', '--help');
  assert.equal(help.status, 0);
  for (const word of ['audit', 'show', 'fold']) assert.match(help.stdout, new RegExp(`\\b${word}\\b`));
  const empty = run('bin/dsh-rewind.js', 'audit', folder);
  assert.equal(empty.status, 2, 'a folder without a log is unusable input');
});

test('every file that a document links to is there', () => {
  for (const name of DOCUMENTS) {
    for (const [, target] of read(name).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      assert.ok(existsSync(join(ROOT, name, '..', target)), `${name} links to ${target}`);
    }
  }
});

/** The sources and documents of the repository, as `[path, text]`. */
function texts() {
  const listed = spawnSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' });
  const ours = /\.(rs|js|ts|md)$/;
  return listed.stdout.split('\0').filter((path) => ours.test(path) && path !== '__test__/documents.test.js')
    .filter((path) => existsSync(join(ROOT, path))).map((path) => [path, read(path)]);
}

const CITED = /docs\/(rewind|prune|turn-memory)\.md((?:,? (?:and |to )?\d+(?:\.\d+)?)*)/g;

/** The numbered sections of a document: `## 3. Commit`, and `**3.2** A sentence`. */
function sectionsOf(name) {
  const found = [...read(`docs/${name}.md`).matchAll(/^(?:## (\d+)\.|\*\*(\d+\.\d+)\*\*) /gm)];
  return new Set(found.map(([, whole, part]) => whole ?? part));
}

test('a section that is cited is there, and nothing cites a folder that is not', (t) => {
  if (!existsSync(join(ROOT, '.git'))) return t.skip('no repository to list');
  const sections = new Map();
  let cited = 0;
  for (const [path, text] of texts()) {
    assert.doesNotMatch(text, /\bspec\/\w/, `${path} cites spec/, which is no folder of this repository`);
    for (const [, name, numbers] of text.matchAll(CITED)) {
      if (!sections.has(name)) sections.set(name, sectionsOf(name));
      for (const [number] of numbers.matchAll(/\d+(?:\.\d+)?/g)) {
        cited += 1;
        assert.ok(sections.get(name).has(number), `${path} cites docs/${name}.md ${number}, which has no such section`);
      }
    }
  }
  assert.ok(cited > 150, `only ${cited} citations were read`);
});
