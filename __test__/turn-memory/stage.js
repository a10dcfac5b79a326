/** The stage of the turn-memory tests: the real loop with real subagents and skills, and the moves they share. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkillRegistry } from '@deepseek-ai/dsh-skill';
import { SubagentRuntime } from '@deepseek-ai/dsh-subagent';
import * as subagentInvariant from '@deepseek-ai/dsh-subagent/invariant';
import * as forkProvider from '@deepseek-ai/dsh-subagent-fork-in-process';
import * as spawnProvider from '@deepseek-ai/dsh-subagent-spawn-in-process';
import * as turnMemory from '../../plugin/turn-memory/index.js';
import { createLoop } from '../support/loop.js';
import { act, call, say } from '../support/script.js';
import { bashTool, readTool, scriptedTool } from '../support/tools.js';
import { textOf } from '../support/wire.js';

/** A tool result that is worth summarizing. */
export const LONG = 'a line that nobody needs word for word\n'.repeat(60);

const PATIENCE_MS = 60_000;

/** The text of a request's last message, by which the lanes of this plugin are told apart. */
export function lastText({ options }) {
  return textOf(options.messages.at(-1).content);
}

/** The question of a recall request; a child's runtime context may stand after it. */
export function questionIn({ options }) {
  const texts = options.messages.map(({ content }) => textOf(content));
  return texts.findLast((text) => /^\[turn memory\] Answer|^Below is the record/.test(text)) ?? '';
}

/** Requests by what they are for; everything else is the task's. */
export const MATCH = {
  summary: (request) => lastText(request).startsWith('[turn memory] The process of turn'),
  worker: ({ options }) => (options.tools ?? []).some(({ name }) => name === 'draft_grep'),
  question: (request) => questionIn(request) !== '',
};

/**
 * Mounts turn memory on the real loop.
 *
 * @param t - the test, at whose end everything is taken down.
 * @param options - `config`: the row; `steps`: by lane (`main`, `summary`, `question`, `worker`); `providers`:
 *   the subagent providers to mount; `skills: false` leaves the skill registry out; `plugins`: further ones,
 *   mounted before; `reading`: what `read` and `bash` give; `tools`: further ones; the rest goes to `createLoop`.
 * @returns the loop, with `home`: its `$DSH_HOME`.
 */
export async function stage(t, {
  config = {}, steps = {}, providers = ['fork', 'spawn'], skills = true, plugins = [], tools = [], match = MATCH,
  reading = { '*': LONG }, before, ...more
} = {}) {
  const home = mkdtempSync(join(tmpdir(), 'turn-memory-'));
  const outer = process.env.DSH_HOME;
  process.env.DSH_HOME = home;
  const loop = await createLoop({
    match,
    steps,
    tools: [readTool(reading), bashTool(reading), ...tools],
    plugins,
    async before(ctx) {
      if (skills) await ctx.plugin(SkillRegistry);
      if (providers.length > 0) await ctx.plugin(SubagentRuntime);
      if (providers.includes('fork')) await ctx.plugin(forkProvider, {});
      if (providers.includes('spawn')) await ctx.plugin(spawnProvider, {});
      await before?.(ctx);
    },
    ...more,
  });
  const fiber = await loop.mount(turnMemory, { cheapProvider: '', cheapModel: '', ...config });
  loop.unmountTurnMemory = () => fiber.dispose();
  if (providers.length > 0 && more.invariants !== false) await loop.ctx.plugin(subagentInvariant);
  loop.home = home;
  t.after(async () => {
    await loop.dispose();
    if (outer === undefined) delete process.env.DSH_HOME;
    else process.env.DSH_HOME = outer;
    rmSync(home, { recursive: true, force: true });
  });
  return loop;
}

/** Steps of a turn that reads twice and answers. */
export function work(answer, id = answer) {
  return [
    act([call(`${id}-1`, 'read', { path: `${id}.a` })], { reasoning: 'let me look' }),
    act([call(`${id}-2`, 'bash', { command: `test ${id}` })], { text: `I looked at ${id}.` }),
    say(answer),
  ];
}

/** A summary that writes an account for every part that the request asks for. */
export function accounts(text = (id) => `Account of part ${id}.`) {
  return (request) => say(toWrite(lastText(request)).map((id) => `<working:${id}>\n${text(id)}\n</working:${id}>`).join('\n'));
}

/** Ids of the parts that an instruction asks for. */
export function toWrite(instruction) {
  return [...instruction.matchAll(/^<working:(\d+)> TO WRITE/gm)].map(([, id]) => Number(id));
}

/**
 * A tool in whose body a test acts: `moment.act` is set once the agent is there.
 *
 * @param moment - an object whose `act` is called.
 * @returns the definition of the tool `slow`.
 */
export function slowTool(moment) {
  return scriptedTool('slow', 'what', async () => {
    await moment.act();
    return LONG;
  });
}

/** Waits until `condition` holds. */
export async function until(condition, what = condition) {
  const deadline = Date.now() + PATIENCE_MS;
  while (!await condition()) {
    assert.ok(Date.now() < deadline, `never came: ${what}`);
    await sleep(5);
  }
}

/** The whole-turn checkpoints on an agent's surface. */
export function checkpoints(agent) {
  return agent.surface().filter(({ type, data }) => (
    type === 'user/message' && data.source.plugin === 'turn-memory' && data.source.scope === 'whole-turn'
  ));
}

/** Waits for the checkpoint of a turn and returns its event. */
export async function landed(agent, turn) {
  const find = () => checkpoints(agent).find(({ data }) => data.source.turn === turn);
  await until(() => find() !== undefined, `the checkpoint of turn ${turn}`);
  return find();
}

/** A checkpoint's segments as `[kind, id, content]`, read the way any reader would. */
export function segmentsOf(event) {
  const text = textOf(event.data.content);
  const inner = text.split('\n').slice(1, -1).join('\n');
  const found = [];
  const pattern = /^<(user-steer|assistant|working):(\d+)>\n([\s\S]*?)\n<\/\1:\2>$/gm;
  for (const [, kind, id, content] of inner.matchAll(pattern)) found.push([kind, Number(id), content]);
  return found;
}

/** The law of every edit, checked on the session as it stands: wire-valid, nothing refused, meter exact. */
export function assertSound(loop, agent) {
  assert.equal(agent.fault(), undefined);
  assert.deepEqual(loop.rejected, []);
  const measured = loop.ctx.tokenMeter.measure(agent.session).surfaceTokens;
  const { contextBreakdown } = loop.ctx.sessionProjections.snapshot(agent.session).values;
  assert.equal(contextBreakdown.messageTokens, measured, 'the price events keep the meter exact');
}

/** Calls a tool of this plugin through the real registry, inside a turn that the script drives. */
export async function callTool(loop, agent, name, args) {
  const id = `${name}-${agent.session.seq}`;
  loop.script.push('main', act([call(id, name, args)]), say('I see.'));
  await agent.prompt('go on');
  return agent.results().find(({ callId }) => callId === id);
}
