/** The border to the Rust core: a missing or broken addon, and arguments that nobody should pass. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { native } from '../../plugin/native.js';
import { platformTriple } from '../../plugin/platform.js';
import { drive } from '../../plugin/rewind/drive.js';
import { chanceOf } from '../laws/random.js';

const PLUGIN = fileURLToPath(new URL('../../plugin/', import.meta.url));
const ADDON = `tool-rewind.${platformTriple()}.node`;

/** Loads the core in a process of its own, from a copy of the loader beside which `addon` stands, if any. */
async function load(t, addon, env = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'tool-rewind-native-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  for (const name of ['native.js', 'platform.js']) await cp(join(PLUGIN, name), join(folder, 'plugin', name));
  if (addon !== undefined) await writeFile(join(folder, ADDON), addon);
  const code = `import(${JSON.stringify(join(folder, 'plugin', 'native.js'))})
    .then(({ native }) => console.log(typeof native.planFold), (error) => console.log(error.message))`;
  return new Promise((resolve) => {
    execFile(process.execPath, ['-e', code], { env: { ...process.env, ...env } }, (error, stdout) => resolve(stdout.trim()));
  });
}

test('a missing addon: one sentence that names the platform and how to build it', async (t) => {
  const words = await load(t);
  assert.equal(words, `@dpskh/tool-rewind has no native core for ${platformTriple()}: install `
    + `@dpskh/tool-rewind-${platformTriple()}, or build it from the repository with "npm run build" (needs Rust).`);
});

test('a broken addon: the same, with the reason', async (t) => {
  const words = await load(t, 'not a library');
  assert.ok(words.startsWith(`@dpskh/tool-rewind cannot load its native core for ${platformTriple()} (`), words);
  assert.match(words, /npm run build/);
  assert.equal(words.includes('\n'), false);
});

test('no environment variable picks the file', async (t) => {
  const file = join(PLUGIN, '..', ADDON);
  const env = { NAPI_RS_NATIVE_LIBRARY_PATH: file, NAPI_RS_FORCE_WASI: '1', TOOL_REWIND_NATIVE: file };
  assert.match(await load(t, undefined, env), /has no native core/);
});

test('platforms are named as addons are', (t) => {
  const named = (platform, arch, glibc) => {
    const own = ['platform', 'arch', 'report'].map((key) => [key, Object.getOwnPropertyDescriptor(process, key)]);
    const put = (key, value) => Object.defineProperty(process, key, { value, configurable: true });
    put('platform', platform);
    put('arch', arch);
    put('report', { getReport: () => ({ header: { glibcVersionRuntime: glibc } }) });
    try {
      return platformTriple();
    } finally {
      for (const [key, descriptor] of own) Object.defineProperty(process, key, descriptor);
    }
  };
  t.diagnostic(platformTriple());
  assert.deepEqual(
    [
      named('linux', 'x64', '2.36'), named('linux', 'arm64', undefined), named('darwin', 'arm64'), named('win32', 'x64'),
      named('freebsd', 'x64'),
    ],
    ['linux-x64-gnu', 'linux-arm64-musl', 'darwin-arm64', 'win32-x64-msvc', 'freebsd-x64'],
  );
});

/** Columns that nearly mean something: kinds, ids and offsets at random, and now and then a wild number. */
function columnsOf({ int, chance, pick }) {
  const list = (Type, length, value) =>
    Type.from({ length: chance(0.02) ? int(0, length) : length }, () => (chance(0.003) ? int(0, 4294967295) : value()));
  const events = 20;
  return {
    nodes: chance(0.9)
      ? Uint32Array.from({ length: int(1, events) }, (_, at) => at)
      : list(Uint32Array, int(0, 9), () => int(0, events)),
    facts: list(Uint8Array, events, () => pick([1, 2, 2, 3, 3, 3, 5, 9, 17, 65])),
    chars: list(Uint32Array, events, () => int(0, 900)),
    origins: list(Uint32Array, events, () => int(0, events)),
    calls: list(Uint32Array, events, () => 3 * int(0, 5)),
    pool: Uint32Array.from([1, 1, 7, 1, 2, 7, 0, 0, 0, 1, 3, 8, 1, 1, 8, 0, 9, 9, ...(chance(0.1) ? [int(0, 9)] : [])]),
  };
}

const CODES = new Set(['EMPTY_REGION', 'UNBALANCED', 'CHANGED', 'SHRINK']);

/** Whatever happens, it is a value or a classified error. */
function classified(action) {
  try {
    return action();
  } catch (error) {
    assert.ok(CODES.has(error.code), `${error.code}: ${error.message}`);
    return undefined;
  }
}

test('columns that no session has are planned or refused, and the process lives', () => {
  let planned = 0;
  for (let seed = 1; seed <= 4000; seed += 1) {
    const chance = chanceOf(seed);
    const columns = columnsOf(chance);
    const target = {
      mark: 'm', logLength: chance.int(0, 14), logLengthText: '?', logSize: chance.int(0, 30),
      lastAssistant: chance.pick([undefined, chance.int(0, 14)]), call: chance.int(0, 5),
      checkpointName: 3, openTurn: chance.chance(0.5), folded: chance.chance(0.05),
    };
    const plan = classified(() => native.planFold(columns, target, 'en'));
    classified(() => native.foldOutlook(columns, target));
    if (plan === undefined) continue;
    planned += 1;
    const facts = { objective: undefined, checkpointTool: 'checkpoint', turnStart: chance.int(0, 20) };
    classified(() => plan.request(columnsOf(chance), chance.chance(0.5), facts));
    classified(() => plan.request(columns, chance.chance(0.5), facts));
    classified(() => plan.edits(columnsOf(chance), chance.chance(0.5)));
    assert.ok(plan.edits(columns, true).length > 0);
    classified(() => plan.weighLanding(chance.int(0, 4294967295), chance.int(0, 9), chance.int(0, 9)));
  }
  assert.ok(planned > 100, `${planned} plans`);
});

test('arguments of the wrong kind are JavaScript errors', () => {
  const columns = columnsOf(chanceOf(1));
  const target = {
    mark: 'm', logLength: 0, logLengthText: '0', logSize: 9, call: undefined, checkpointName: undefined, openTurn: true, folded: false,
  };
  const wrong = [
    [], [null, target, 'en'], [{}, target, 'en'], [columns, null, 'en'], [columns, {}, 'en'], [columns, target],
    [{ ...columns, facts: new Uint32Array(3) }, target, 'en'], [{ ...columns, nodes: [1, 2] }, target, 'en'],
    [columns, { ...target, mark: 5 }, 'en'], [columns, { ...target, logLength: '0' }, 'en'],
  ];
  for (const args of wrong) assert.throws(() => native.planFold(...args), Error);
});

test('a side that breaks its contract ends its fold and nothing else', async () => {
  const options = { maxTokens: 64, maxRetries: 1, receiptOnFailure: false, noMark: 'Set one.' };
  const failure = new Error('broken');
  const throwing = () => {
    throw failure;
  };
  await assert.rejects(native.runFold(options, throwing), /broken/);
  await assert.rejects(drive(options, throwing), (error) => error === failure);
  await assert.rejects(drive(options, () => Promise.reject(failure)), (error) => error === failure);
  for (const answer of [undefined, null, 5, 'x', {}, { kind: 5 }]) {
    await assert.rejects(drive(options, async () => answer), Error);
  }
  for (const answer of [{ kind: 'nonsense' }, { kind: 'landed', yes: true }, { kind: 'confirmed', yes: true }, { kind: 'answer', finish: 'stop', text: 'A report.' }]) {
    const effects = [];
    const { kind } = await drive(options, async (effect) => {
      effects.push(effect.kind);
      return answer;
    });
    assert.deepEqual([kind, effects], ['stopped', ['latest-mark']]);
  }
});

test('an answer reaches its own fold alone, and none that is over', async () => {
  const options = { maxTokens: 64, maxRetries: 1, receiptOnFailure: false, noMark: 'Set one.' };
  const asked = [];
  const run = () => native.runFold(options, (effect) => { asked.push(effect); });
  const folds = [run(), run()];
  while (asked.length < 2) await new Promise(setImmediate);
  const [one, other] = asked.map(({ fold }) => fold);
  native.answerFold(Math.max(one, other) + 1, { kind: 'stopped' });
  native.answerFold(other, { kind: 'mark', yes: false });
  native.answerFold(one, { kind: 'stopped' });
  const outcomes = (await Promise.all(folds)).map(({ kind, code }) => [kind, code]);
  assert.deepEqual(outcomes.toSorted(), [['refused', 'NO_CHECKPOINT'], ['stopped', undefined]]);
  assert.equal(asked.length, 2);
  native.answerFold(one, { kind: 'mark', yes: true });
});

test('many folds at once, and in a worker that goes away in the middle of one', async () => {
  const options = { maxTokens: 64, maxRetries: 0, receiptOnFailure: false, noMark: 'Set one.' };
  const answers = {
    'latest-mark': { kind: 'mark', yes: true }, 'prepare': { kind: 'prepared', yes: false },
    'ask': { kind: 'answer', finish: 'stop', text: 'A report.' }, 'confirm': { kind: 'confirmed', yes: true },
    'land': { kind: 'landed', yes: true },
  };
  const fold = () => drive(options, async ({ kind }) => {
    await new Promise(setImmediate);
    return answers[kind];
  });
  const outcomes = await Promise.all(Array.from({ length: 200 }, fold));
  assert.ok(outcomes.every(({ kind, stamped }) => kind === 'folded' && stamped));

  const code = `
    import { parentPort } from 'node:worker_threads';
    import { native } from ${JSON.stringify(new URL('../../plugin/native.js', import.meta.url).href)};
    native.runFold(${JSON.stringify(options)}, ({ kind }) => { parentPort.postMessage(kind); });
    setInterval(() => {}, 1000);
  `;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  const [kind] = await new Promise((resolve, reject) => {
    worker.once('message', (message) => resolve([message]));
    worker.once('error', reject);
  });
  assert.equal(kind, 'latest-mark');
  await worker.terminate();
  assert.equal((await fold()).kind, 'folded');
});
