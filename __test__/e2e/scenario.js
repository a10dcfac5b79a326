/**
 * What the end-to-end scenarios share: a workspace worth exploring, the model's moves, and a way to see a
 * surface.
 */
import assert from 'node:assert/strict';
import { OURS, RUNNER, createCli } from '../support/cli.js';
import { act, call, say } from '../support/script.js';
import { textOf } from '../support/wire.js';

/** Words that stand in one explored file each, and nowhere else. */
export const NEEDLES = {
  'a.txt': 'needle-alpha-7141',
  'b.txt': 'needle-beta-2236',
  'c.txt': 'needle-gamma-9508',
};

const FILES = Object.fromEntries(Object.entries(NEEDLES).map(([name, needle]) => [
  name, `${'a line that nobody needs twice\n'.repeat(80)}${needle}\n${'and more of the same\n'.repeat(40)}`,
]));

export const REPORT = '## Findings\nThe port is 7141 (a.txt).\n## Open\nNothing.';

/** The model's moves, each one tool call. */
export const mark = (id = 'm1', objective = 'find the port') => call(id, 'checkpoint', { objective });
export const look = (id, file = 'a.txt') => call(id, 'read', { file_path: file });
export const fold = (id = 'w1') => call(id, 'rewind');

/**
 * @param t - the test, which cleans up.
 * @param options - as `createCli` takes them; `runner` adds the test runner to the profile.
 * @returns a promise of the prepared CLI, with the explorable files in its workspace.
 */
export async function prepareCli(t, { runner = false, packages = [OURS], ...options }) {
  const added = runner ? [...packages, RUNNER] : packages;
  const cli = await createCli({ files: FILES, packages: added, ...options });
  t.after(() => cli.close());
  return cli;
}

/**
 * Gives one task to the CLI and requires what every scenario requires: a clean exit, no HTTP 400 for a
 * message sequence, a wire-valid surface, every scripted step taken.
 *
 * @param t - the test.
 * @param options - the CLI's options; `main` and `report` are the model's steps.
 * @returns a promise of `{ cli, log, stdout, provider }`.
 */
export async function runTask(t, { main, report, ...options }) {
  const cli = await prepareCli(t, { steps: { main, ...(report ? { report } : {}) }, ...options });
  const { code, stdout, stderr } = await cli.run('find the port');
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout);
  const [log] = cli.logs();
  assertSound(cli);
  return { cli, log, stdout, provider: cli.provider };
}

/**
 * @param cli - a prepared CLI after its runs: nothing was refused, nothing is left over, every log is valid.
 */
export function assertSound({ provider, logs }) {
  assert.deepEqual(provider.rejected, []);
  assert.deepEqual(provider.script.left, {});
  for (const { fault } of logs()) assert.equal(fault, undefined);
}

function sourceOf({ source }) {
  if (source.kind === 'user') return 'person';
  const { plugin, markId } = source;
  const known = {
    'rewind': `report ${markId}`, 'rewind-pointer': `pointer ${markId}`, 'rewind-guard': 'guard',
  };
  return known[plugin] ?? plugin.split('/').at(-1);
}

/** One surface event in a word or two: `person: words`, `model m1 c1`, `result c1`, `report 1`. */
function sketch({ type, data, surfaceOp }) {
  if (type === 'user/message') {
    const who = sourceOf(data);
    return who === 'person' ? `person: ${textOf(data.content)}` : who;
  }
  if (type === 'assistant/message') {
    const { content } = data.message;
    const calls = content.filter((block) => block.type === 'tool-call').map(({ id }) => id);
    const words = textOf(content);
    return ['model', ...calls, ...(words ? [`"${words}"`] : [])].join(' ');
  }
  const [block] = data.message.content;
  const marks = `${block.isError ? '!' : ''}${surfaceOp === 'append' ? '' : '*'}`;
  return `result ${block.toolCallId}${marks}`;
}

/**
 * @param log - a log as `readLog` returns it.
 * @returns its surface, one sketch a node; the runtime context, which every session has, is left out. `!`
 * marks an error, `*` a result that was rewritten in place.
 */
export function outline({ surface }) {
  return surface.map(sketch).filter((words) => words !== 'dsh-system-prompt');
}

/** @returns the text of the result of a call, as the surface shows it now. */
export function resultOf({ surface }, id) {
  const found = surface.findLast(({ type, data }) => type === 'tool/result'
    && data.message.content[0].toolCallId === id);
  return textOf(found.data.message.content[0].content);
}

/** @returns the reports in a log, oldest first. */
export function reportsIn({ events }) {
  return events.filter(({ type, data }) => type === 'user/message' && data.source.plugin === 'rewind');
}

/** @returns whether a request carries some words anywhere in its messages. */
export function carries({ messages }, words) {
  return JSON.stringify(messages).includes(words);
}

export { act, call, say };
