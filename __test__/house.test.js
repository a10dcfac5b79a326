/** The rules of the house that no compiler checks, read off the sources. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const MAX_LINES = 350;
const MAX_WIDTH = 120;

function filesUnder(folder, extension) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(ROOT, path).split(sep).join('/'), text: readFileSync(path, 'utf8') };
    });
}

const rust = filesUnder('src', '.rs');
const plugins = [...filesUnder('plugin', '.js'), { path: 'index.js', text: readFileIfThere('index.js') }];

function readFileIfThere(name) {
  return readdirSync(ROOT).includes(name) ? readFileSync(join(ROOT, name), 'utf8') : '';
}

/** Every line of the files that matches, as `path:line: text`, comment lines left out. */
function linesMatching(files, pattern, allowed = () => false) {
  return files.filter(({ path }) => !allowed(path)).flatMap(({ path, text }) => text.split('\n')
    .map((line, index) => ({ line, at: `${path}:${index + 1}: ${line.trim()}` }))
    .filter(({ line }) => !/^\s*(\/\/|\*|\/\*)/.test(line) && pattern.test(line))
    .map(({ at }) => at));
}

/** Synchronous `#[napi]` functions without `catch_unwind`; constructors and methods count as functions. */
export function unguardedExports(text) {
  const found = [];
  let attributes = '';
  for (const line of text.split('\n')) {
    if (/^\s*#\[/.test(line)) attributes += line;
    else if (/^\s*pub\s+(async\s+)?fn\s/.test(line)) {
      const synchronous = !/^\s*pub\s+async\s/.test(line);
      const exported = /#\[napi\b/.test(attributes);
      if (synchronous && exported && !attributes.includes('catch_unwind')) found.push(line.trim());
      attributes = '';
    } else if (line.trim() !== '' && !/^\s*\/\//.test(line)) attributes = '';
  }
  return found;
}

test('the reader of exports sees what it must see', () => {
  assert.deepEqual(unguardedExports('#[napi(catch_unwind)]\npub fn fine() {}'), []);
  assert.deepEqual(unguardedExports('#[napi]\npub async fn fine() {}'), []);
  const bare = (text) => assert.equal(unguardedExports(text).length, 1);
  bare('#[napi]\n/// words\n#[allow(x)]\npub fn bare() {}');
  bare('#[napi(js_name = "x")]\n  pub fn method(&self) {}');
  assert.deepEqual(unguardedExports('#[napi(object)]\npub struct S {}\npub fn plain() {}'), []);
});

test('every synchronous export catches a panic', () => {
  const bare = rust.flatMap(({ path, text }) => unguardedExports(text).map((line) => `${path}: ${line}`));
  assert.deepEqual(bare, []);
});

test('only the binding names napi', () => {
  assert.deepEqual(linesMatching(rust, /\bnapi(_derive)?\b/, (path) => path.startsWith('src/binding/')), []);
});

test('the pure rooms know no clock, no I/O and no unsafe', () => {
  const outside = (path) => path.startsWith('src/binding/') || path.startsWith('src/audit/');
  const impure = /\bstd::(time|fs|net|env|process|io)\b|\bunsafe\s*(\{|fn|impl)/;
  assert.deepEqual(linesMatching(rust, impure, outside), []);
});

test('only the host appends to a session', () => {
  assert.deepEqual(linesMatching(plugins, /\.append\(/, (path) => path.startsWith('plugin/host/')), []);
});

test('only native.js loads an addon', () => {
  assert.deepEqual(linesMatching(plugins, /\.node['"`]/, (path) => path === 'plugin/native.js'), []);
});

test('no plugin folder imports another', () => {
  const crossing = plugins.flatMap(({ path, text }) => {
    const [, own] = /^plugin\/([^/]+)\//.exec(path) ?? [];
    return own === undefined ? [] : [...text.matchAll(/from '(\.[^']+)'/g)]
      .map(([, target]) => relative(ROOT, resolve(ROOT, dirname(path), target)).split(sep).join('/'))
      .map((target) => [target, /^plugin\/([^/]+)\//.exec(target)?.[1]])
      .filter(([, other]) => other !== undefined && other !== own && other !== 'host')
      .map(([target]) => `${path} imports ${target}`);
  });
  assert.deepEqual(crossing, []);
});

test('files and lines stay readable', () => {
  const folders = ['scripts', 'demo', '__test__/support', '__test__/e2e'];
  const scripts = folders.flatMap((folder) => filesUnder(folder, '.js'));
  const all = [...rust, ...plugins, ...scripts];
  const long = all.filter(({ text }) => text.split('\n').length - 1 > MAX_LINES).map(({ path }) => path);
  assert.deepEqual(long, []);
  // rustfmt keeps the width of the Rust sources.
  const wide = scripts.flatMap(({ path, text }) => text.split('\n')
    .flatMap((line, index) => (line.length > MAX_WIDTH ? [`${path}:${index + 1}`] : [])));
  assert.deepEqual(wide, []);
});
