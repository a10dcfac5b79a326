/** The real `dsh web` in headless Chromium: a server of its own, a page, and the moves a person makes. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { packLocal } from '../../scripts/lib/pack.js';
import { ROOT } from '../../scripts/lib/project.js';
import { launchEnvironment } from '../support/launch.js';
import { startProvider } from '../support/strict-provider.js';

const CANDIDATES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** The browser to drive, undefined where none is installed. */
export const BROWSER = CANDIDATES.find((path) => path && existsSync(path));

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];
/** Generous, for machines that have other things to do. */
const PATIENCE_MS = 60_000;
const SHOTS = join(ROOT, '.shots');

function dsh(args, options) {
  return new Promise((done, failed) => {
    const child = spawn('dsh', args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stdout.on('data', (data) => { said += data; });
    child.stderr.on('data', (data) => { said += data; });
    child.on('error', failed);
    child.on('close', (code) => (code === 0 ? done(said) : failed(new Error(`dsh ${args.join(' ')} ended with ${code}:\n${said}`))));
  });
}

/** Starts the server; resolves with its address and how to stop it. */
function serve(options) {
  return new Promise((done, failed) => {
    // A group of its own: the command is a wrapper, and the server its child.
    const child = spawn('dsh', ['web', '--no-open', '--port', '0'], { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    const stop = () => new Promise((gone) => {
      child.on('close', gone);
      try {
        process.kill(-child.pid);
      } catch {
        gone();
      }
    });
    const hear = (data) => {
      said += data;
      const url = /dsh web: (http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1];
      if (url) done({ url, stop });
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('error', failed);
    child.on('close', (code) => failed(new Error(`dsh web ended with ${code}:\n${said}`)));
  });
}

/**
 * Prepares a home with the packed plugin in its web profile, a workspace, and a scripted provider.
 *
 * @param options - `steps`: the provider's script; `files`: the workspace's files by name.
 * @returns a promise of `{ provider, start(), open(), close() }`; `start` boots the server again after `stop`,
 * `open` gives a page in a browser profile of its own.
 */
export async function createWeb({ steps, files = {} }) {
  const root = mkdtempSync(join(tmpdir(), 'tool-rewind-web-'));
  const home = join(root, 'home');
  const workspace = join(root, 'workspace');
  mkdirSync(home);
  mkdirSync(workspace);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, name), text);
  const provider = await startProvider(steps);
  const options = { cwd: workspace, env: launchEnvironment(home, { DEEPSEEK_BASE_URL: provider.url, DEEPSEEK_API_KEY: 'sk-scripted' }) };
  await dsh(['plugin', '--profile', 'web', 'add', `file:${packLocal(join(root, 'pack'))}`], options);
  let server = await serve(options);
  const contexts = [];

  return {
    provider,
    workspace,
    async restart() {
      await server.stop();
      server = await serve(options);
    },
    async open() {
      const context = await chromium.launchPersistentContext(mkdtempSync(join(root, 'browser-')), {
        executablePath: BROWSER, headless: true, locale: 'en-US', viewport: { width: 1280, height: 900 }, args: FLAGS,
      });
      context.setDefaultTimeout(PATIENCE_MS);
      contexts.push(context);
      const page = context.pages()[0] ?? await context.newPage();
      const faults = [];
      page.on('pageerror', (error) => faults.push(String(error)));
      page.on('console', (message) => { if (message.type() === 'error') faults.push(message.text()); });
      await page.goto(server.url);
      return { page, faults };
    },
    async close() {
      for (const context of contexts) await context.close();
      await server.stop();
      await provider.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Goes through whichever of the first-use dialogs appear, up to a prompt that takes text. */
export async function enter(page, workspace) {
  const notice = page.getByRole('button', { name: 'Continue' });
  const choose = page.getByRole('textbox', { name: 'Choose workspace' });
  const prompt = page.getByPlaceholder(/Describe what you want to build|Message the agent/);
  // The notice comes when the settings have loaded: before, after or long after what lies under it, which is inert
  // from then on. So it is dismissed whenever it stands in the way of a move, not at one moment.
  await page.addLocatorHandler(notice, () => notice.click());
  await choose.or(prompt).first().waitFor();
  if (await choose.isVisible()) {
    await choose.click();
    await page.getByRole('button', { name: 'Edit path' }).click();
    const path = page.getByRole('dialog').getByRole('textbox');
    await path.fill(workspace);
    await path.press('Enter');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
  }
  await prompt.waitFor();
  return prompt;
}

/** Types a line and sends it. */
export async function say(page, text) {
  const prompt = page.getByPlaceholder(/Describe what you want to build|Message the agent/);
  await prompt.fill(text);
  await prompt.press('Enter');
}

/**
 * Keeps a picture of the page for whoever looks at the run; the folder is not committed.
 *
 * @param page - the page.
 * @param name - the picture's name.
 * @param clip - the part to keep, the whole page where absent.
 */
export async function shot(page, name, clip) {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`), ...(clip ? { clip } : {}) });
}
