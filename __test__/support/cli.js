/**
 * The real `dsh --profile headless`, as a person has it: a home of its own, the packed plugin put into the
 * profile with `dsh plugin add`, a provider that answers from a script, and the session logs read back from
 * disk.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Session, decodeStorageRecord } from '@deepseek-ai/dsh-session';
import { stringify } from 'yaml';
import { packLocal } from '../../scripts/lib/pack.js';
import { textOfFrames } from './frames.js';
import { launchEnvironment } from './launch.js';
import { startProvider } from './strict-provider.js';
import { toWire, wireFault } from './wire.js';

const SUPPORT = dirname(fileURLToPath(import.meta.url));
const PROFILE = 'headless';
/** A run takes two to four seconds on an idle machine; this is for one that is anything but idle. */
const TIMEOUT_MS = 120_000;

/** The runner that takes the headless one's place for several turns, steering, resume and commands. */
export const RUNNER = join(SUPPORT, 'runner');
/** The package under test, packed. */
export const OURS = Symbol('the packed plugin');

const scratch = mkdtempSync(join(tmpdir(), 'tool-rewind-cli-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

function dsh(args, { cwd, env, timeout = TIMEOUT_MS }) {
  return new Promise((done, failed) => {
    // A group of its own: the command is a wrapper, and what it started must not outlive it holding the pipes.
    const child = spawn('dsh', args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (text) => {
        output[name] += text;
      });
    }
    const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), timeout);
    child.on('error', failed);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      done({ code, signal, ...output });
    });
  });
}

let packed;
const profiles = new Map();

async function installProfile(packages) {
  const home = mkdtempSync(join(scratch, 'profile-'));
  for (const one of packages) {
    if (one === OURS) packed ??= packLocal(mkdtempSync(join(scratch, 'pack-')));
    const args = ['plugin', '--profile', PROFILE, 'add', `file:${one === OURS ? packed : one}`];
    const { code, stdout, stderr } = await dsh(args, { cwd: home, env: launchEnvironment(home) });
    if (code !== 0) throw new Error(`dsh ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  }
  return home;
}

/** Installed once a process and set of packages; each test gets a copy. */
function profileWith(packages) {
  const key = packages.map(String).join('\n');
  if (!profiles.has(key)) profiles.set(key, installProfile(packages));
  return profiles.get(key);
}

function filesBelow(folder, name) {
  try {
    return readdirSync(folder, { recursive: true }).filter((path) => path.endsWith(name))
      .map((path) => join(folder, path)).toSorted();
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Reads a session log as the harness wrote it.
 *
 * @param path - the log, zstd frames of JSON lines.
 * @returns `{ path, id, header, events, session, surface, fault }`: the restored session, its surface as
 * events in the order in which the model sees them, and what a provider would say against it.
 */
export function readLog(path) {
  const lines = textOfFrames(readFileSync(path)).split('\n').filter(Boolean);
  const [{ type: _type, ...header }, ...rows] = lines.map((line) => JSON.parse(line));
  const session = Session.fromRestore(header.id, rows.flatMap((row) => decodeStorageRecord(row)), header);
  const { events } = session;
  return {
    path,
    id: header.id,
    header,
    events,
    session,
    surface: session.surface.nodes.map((seq) => events[seq]),
    fault: wireFault(toWire({ messages: session.deriveMessages() })),
  };
}

/**
 * Prepares a home, a workspace and a provider for one scenario.
 *
 * @param options - `steps` and `match`: the provider's script; `packages`: what is added to the profile, in
 * order (the packed plugin alone by default); `rows`: the profile's own patch layer, `{ id, config?,
 * disabled? }` or `{ insert }`; `files`: the workspace's files by name.
 * @returns a promise of `{ home, workspace, provider, run(task), drive(script), plugin(...args), logs(),
 * patch(rows), close() }`.
 */
export async function createCli({ steps = {}, match, packages = [OURS], rows = [], files = {} } = {}) {
  const prepared = await profileWith(packages);
  const root = mkdtempSync(join(scratch, 'test-'));
  const home = join(root, 'home');
  const workspace = join(root, 'workspace');
  cpSync(prepared, home, { recursive: true, verbatimSymlinks: true });
  for (const [name, text] of Object.entries(files)) {
    const path = resolve(workspace, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  mkdirSync(workspace, { recursive: true });

  const patch = (layer) => {
    writeFileSync(join(home, 'profiles', PROFILE, 'cordis.patch.yml'), stringify(layer));
  };
  if (rows.length > 0) patch(rows);
  const provider = await startProvider(steps, { match });
  const env = launchEnvironment(home, { DEEPSEEK_BASE_URL: provider.url, DEEPSEEK_API_KEY: 'sk-scripted' });
  const run = (task, options) => dsh(['--profile', PROFILE, task], { cwd: workspace, env, ...options });

  return {
    home,
    workspace,
    provider,
    patch,
    /** Gives the CLI one task; resolves with `{ code, signal, stdout, stderr }`. */
    run,
    /** `dsh plugin` on the profile: `add`, `remove`, `list`. */
    plugin: (...args) => dsh(['plugin', '--profile', PROFILE, ...args], { cwd: workspace, env }),
    /** Makes the moves of a script, needs the `RUNNER` among the packages; `outcome` is what it printed. */
    async drive(script, options) {
      const ended = await run(JSON.stringify(script), options);
      const last = ended.stdout.trim().split('\n').at(-1);
      return { ...ended, outcome: last?.startsWith('{') ? JSON.parse(last) : undefined };
    },
    /** Every session log of this home, see `readLog`. */
    logs: () => filesBelow(join(home, 'sessions'), 'session.jsonl.zstd').map(readLog),
    async close() {
      await provider.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
