/**
 * Takes the place of the headless runner, which knows one task in a new session and nothing else. This one
 * makes the moves of a script: several turns, words of a person at an exact moment, slash commands, a stored
 * session taken up again, a process that dies. Everything else is the real CLI.
 *
 * The script is the task argument, as JSON:
 *
 *   { "resume": "session-...", "moves": [
 *       { "prompt": "words", "at": [{ "type": "tool/result", "count": 2, "steer": "words" }] },
 *       { "command": "/rewind" } ] }
 *
 * `at` acts when the count-th event of that type is logged after the prompt, or with `{ "file": "name" }`
 * when a file of that name appears in the working directory: `steer` sends a person's words, `cancel` stops
 * the turn as a person does, `exit` ends the process on the spot. The outcome of each move is printed at the
 * end, as one line of JSON.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { installModelSelection } from '@deepseek-ai/dsh-agent';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { SessionId } from '@deepseek-ai/dsh-session';

const POLL_MS = 20;

export const name = 'test-runner';

export const inject = ['agentDefaultModel', 'agents', 'commands', 'sessions'];

function fromPerson(text) {
  return createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } });
}

function act(agent, { steer, cancel, exit }) {
  if (steer !== undefined) agent.steer(fromPerson(steer));
  if (cancel) agent.cancel({ kind: 'user' });
  if (exit) process.exit(9);
}

/** Acts when each moment comes; from inside the listener itself the session would refuse an append. */
function watch(ctx, agent, moments = []) {
  const pending = moments.map((moment) => ({ ...moment, left: moment.count ?? 1 }));
  const stopListening = ctx.on('session/event', (session, { type }) => {
    if (session !== agent.session) return;
    for (const moment of pending) {
      if (moment.type === type && (moment.left -= 1) === 0) queueMicrotask(() => act(agent, moment));
    }
  });
  const timer = setInterval(() => {
    for (const moment of pending) {
      if (!moment.file || moment.left === 0 || !existsSync(moment.file)) continue;
      moment.left = 0;
      act(agent, moment);
    }
  }, POLL_MS);
  return () => {
    clearInterval(timer);
    stopListening();
  };
}

const MOVES = {
  async prompt(ctx, agent, { prompt, at }) {
    const stop = watch(ctx, agent, at);
    const from = agent.session.seq;
    agent.followup(fromPerson(prompt));
    await agent.whenIdle();
    stop();
    const end = agent.session.events.slice(from).findLast(({ type }) => type === 'turn/end');
    return { reason: end?.data.reason };
  },
  async command(ctx, agent, { command }) {
    const done = await ctx.commands.execute(agent, command, [], new AbortController().signal);
    return done?.result ?? { kind: 'unknown' };
  },
};

async function run(ctx, { resume, moves }) {
  await ctx.get('loader')?.await();
  const selection = ctx.agentDefaultModel.currentSelection();
  const how = {
    agentOptions: { provider: selection.provider, model: selection.model },
    setup: (agentCtx) => {
      installModelSelection(agentCtx, { current: selection, assembled: undefined });
    },
  };
  const { agent } = resume
    ? await ctx.agents.resume({ resumeSessionId: SessionId(resume), ...how })
    : await ctx.agents.create({
      sessionId: SessionId(`session-${randomUUID()}`), meta: { cwd: process.cwd() }, ...how,
    });
  await agent.whenIdle();
  const outcomes = [];
  for (const move of moves) {
    const [kind] = Object.keys(MOVES).filter((known) => known in move);
    outcomes.push(await MOVES[kind](ctx, agent, move));
  }
  await ctx.sessions.flush(agent.session);
  return { session: agent.session.id, outcomes };
}

/**
 * @param ctx - the plugin's context.
 * @param config - `script`: the moves, as JSON.
 */
export function apply(ctx, config) {
  const exit = ctx.get('appExit');
  const drive = async () => {
    try {
      process.stdout.write(`${JSON.stringify(await run(ctx, JSON.parse(config.script)))}\n`);
      exit(0);
    } catch (error) {
      process.stderr.write(`test-runner: ${error?.stack ?? error}\n`);
      exit(1);
    }
  };
  void drive();
}
