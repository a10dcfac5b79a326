/** The packages of a release in the real CLI: installed by name, taken out again, a newer one over an older. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import test from 'node:test';
import { platformTriple } from '../../plugin/platform.js';
import { RUNNER } from '../support/cli.js';
import { packRelease, startRegistry } from '../support/release.js';
import {
  NEEDLES, REPORT, act, assertSound, call, carries, fold, look, mark, outline, prepareCli, reportsIn, resultOf, say,
} from './scenario.js';

const NAME = '@dpskh/tool-rewind';
const ALPHA = NEEDLES['a.txt'];
const RELEASE = packRelease();
const { version: VERSION } = RELEASE[0].manifest;
const NEXT = '0.1.1';

/** A profile that finds the package in a registry of its own. */
async function withRegistry(t, options) {
  const registry = await startRegistry();
  t.after(() => registry.close());
  registry.publish(RELEASE);
  const cli = await prepareCli(t, options);
  const plugin = async (...args) => {
    const { code, stdout, stderr } = await cli.plugin(...args);
    assert.equal(code, 0, `${stdout}${stderr}`);
    return stdout + stderr;
  };
  // The first command lays the profile out.
  await plugin('list');
  writeFileSync(join(cli.home, 'profiles', 'headless', '.npmrc'), registry.npmrc);
  return { registry, cli, plugin };
}

/** The files of the home that a person or the harness keeps, by path; what pnpm keeps for itself is left out. */
function filesOf(home) {
  const paths = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)));
  const kept = paths.filter((path) => !/(^|[/\\])(node_modules|sessions)[/\\]/.test(path)).toSorted();
  return Object.fromEntries(kept.map((path) => [path, readFileSync(join(home, path), 'utf8')]));
}

const modulesOf = ({ home }) => join(home, 'profiles', 'headless', 'node_modules');

/** The versions of this package's packages that lie in a profile, `name@version`. */
function installed(cli) {
  const scope = join(modulesOf(cli), '@dpskh');
  if (!existsSync(scope)) return [];
  const manifests = readdirSync(scope).filter((name) => name.startsWith('tool-rewind'))
    .map((name) => JSON.parse(readFileSync(join(scope, name, 'package.json'), 'utf8')));
  return manifests.map(({ name, version }) => `${name}@${version}`).toSorted();
}

/**
 * Whatever of this package lies among a profile's installed files. pnpm forgets the links of a command that is gone,
 * whoever's it was; the README says so.
 */
function traces(cli) {
  return readdirSync(modulesOf(cli), { recursive: true })
    .filter((path) => /(tool|dsh)-rewind/.test(path) && !/^\.bin.dsh-rewind(\.\w+)?$/.test(path));
}

const packagesOf = (version) => [`${NAME}-${platformTriple()}@${version}`, `${NAME}@${version}`].toSorted();

test('the release installs by its name into a fresh profile, folds, and is taken out without a trace', async (t) => {
  const main = [say('Hi.'), act(mark()), act(look('c1')), act(fold()), say('It is 7141.'), say('Hello.')];
  const { cli, plugin } = await withRegistry(t, { packages: [], steps: { main, report: [say(REPORT)] } });
  assert.equal((await cli.run('hi')).stdout, 'Hi.\n');
  const before = filesOf(cli.home);
  await plugin('add', NAME);
  assert.deepEqual(installed(cli), packagesOf(VERSION));
  const files = readdirSync(join(modulesOf(cli), NAME), { recursive: true });
  assert.deepEqual(files.filter((name) => name.endsWith('.node')), [], 'the addon is the platform package\'s');

  const { code, stdout, stderr } = await cli.run('find the port');
  assert.deepEqual([code, stdout, stderr], [0, 'It is 7141.\n', '']);
  const log = cli.logs().find((one) => reportsIn(one).length > 0);
  assert.deepEqual(outline(log), [
    'person: find the port', 'model m1', 'result m1', 'report 1', 'model w1', 'result w1', 'model "It is 7141."',
  ]);

  await plugin('remove', NAME);
  const { 'profiles/headless/pnpm-lock.yaml': lock, ...after } = filesOf(cli.home);
  assert.doesNotMatch(lock, /dpskh|tool-rewind/);
  // pnpm takes the empty list of dependencies out of a manifest that it has had in its hands.
  const manifest = 'profiles/headless/package.json';
  before[manifest] = before[manifest].replace('  "dependencies": {},\n', '');
  assert.deepEqual(after, before);
  assert.deepEqual(traces(cli), []);
  assert.equal((await cli.run('hello')).stdout, 'Hello.\n');
  assert.ok(!JSON.stringify(cli.provider.of('main').at(-1).tools).includes('rewind'));
  assertSound(cli);
});

test('beside another plugin, adding and removing leaves every file of the profile as it was', async (t) => {
  const { cli, plugin } = await withRegistry(t, { packages: [] });
  await plugin('add', `file:${RUNNER}`);
  const before = filesOf(cli.home);
  await plugin('add', NAME);
  assert.notDeepEqual(filesOf(cli.home), before);
  await plugin('remove', NAME);
  assert.deepEqual(filesOf(cli.home), before);
  assert.deepEqual(traces(cli), []);
});

test('a newer release reads an older one\'s fold, originals and open mark; without any it reads too', async (t) => {
  const { registry, cli, plugin } = await withRegistry(t, {
    packages: [RUNNER],
    steps: {
      main: [
        act(mark()), act(look('c1')), act(fold()), say('It is 7141.'),
        act(mark('m2', 'find the host')), act([look('c2', 'b.txt'), look('c3', 'c.txt')]),
        say('Found.'), say('As I said.'),
        act(call('q1', 'recall', { path: 'a.txt' })), act(fold('w2')), say('done'), say('bye'),
      ],
      report: [say(REPORT), say('The host is in b.txt.')],
    },
  });
  const drive = async (script) => {
    const { code, stderr, outcome } = await cli.drive(script);
    assert.equal(code, 0, stderr);
    return outcome;
  };
  await plugin('add', `${NAME}@${VERSION}`);
  const { session } = await drive({ moves: [{ prompt: 'find the port' }, { prompt: 'and the host?' }] });

  registry.publish(packRelease(NEXT));
  await plugin('add', `${NAME}@${NEXT}`);
  assert.deepEqual(installed(cli), packagesOf(NEXT));
  const { outcomes } = await drive({ resume: session, moves: [
    { command: '/rewind list' }, { command: '/rewind show 1' }, { command: '/rewind' }, { prompt: 'what stood there?' },
    { command: '/rewind list' },
  ] });
  const [list, shown, status, , after] = outcomes.map(({ text }) => text);
  assert.match(list, /^1 fold in this session:\nMark 1: 2 nodes, /);
  assert.ok(shown.includes(REPORT) && shown.includes(ALPHA));
  assert.match(status, /^Mark 2 is active, set .*: find the host\n/);
  assert.match(after, /^2 folds in this session:\nMark 1: .*\n.*\nMark 2: /);
  const [log] = cli.logs();
  assert.ok(resultOf(log, 'w2').startsWith('Folded '), resultOf(log, 'w2'));
  assert.deepEqual(reportsIn(log).map(({ data }) => data.source.markId), [1, 2]);
  const results = log.events.filter(({ type }) => type === 'tool/result');
  const recalled = results.find(({ data }) => data.message.content[0].toolCallId === 'q1');
  assert.ok(JSON.stringify(recalled).includes(ALPHA));
  assert.ok(!carries(cli.provider.of('main').at(-1), NEEDLES['b.txt']), 'what the old mark began is folded');

  await plugin('remove', NAME);
  const { outcomes: [last] } = await drive({ resume: session, moves: [{ prompt: 'and without the package?' }] });
  assert.deepEqual(last, { reason: { kind: 'completed' } });
  const request = cli.provider.of('main').at(-1);
  assert.ok(carries(request, 'The port is 7141') && carries(request, 'The host is in b.txt.'));
  assert.ok(!carries(request, ALPHA));
  assertSound(cli);
});
