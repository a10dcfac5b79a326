/** The harness's own services with the package's service on top; only the model's answer is scripted. */
import { Service } from '@deepseek-ai/cordis';
import { LlmAdapter } from '@deepseek-ai/dsh-llm';
import * as rewind from '../../index.js';
import { createLoop } from '../support/loop.js';

const ROUTE = { provider: 'fidelity', model: 'fidelity-1' };

/** Answers every report request with the prose it was given, and keeps what it was sent. */
class Author extends LlmAdapter {
  async resolveModel(provider, model) {
    return { provider, id: model, name: model };
  }

  async *stream({ messages }) {
    this.messages = messages;
    yield { type: 'block-start', index: 0, blockType: 'text' };
    yield { type: 'text-delta', index: 0, text: this.prose };
    yield { type: 'block-end', index: 0, block: { type: 'text', text: this.prose } };
    yield { type: 'finish', reason: { kind: 'stop' } };
  }
}

/** A checkpoint service with one mark a session. */
class Marks extends Service {
  marks = new Map();

  constructor(ctx) {
    super(ctx, 'checkpoint');
  }

  async latestMark(id) {
    return this.marks.get(id);
  }

  async hasActive(id) {
    return this.marks.has(id);
  }

  async completeFold() {}
}

const text = (words) => ({ type: 'text', text: words });

/** Writes an exploration into a session, as the agent loop would have, behind a prompt and a mark. */
function play(session, { prompt, steps }, mark) {
  let made = 0;
  const message = (role, content, source) => {
    made += 1;
    return { id: `m${made}`, role, content, source };
  };
  const append = (type, data) => session.append(type, data, { surfaceOp: 'append' });
  const user = (words) => append('user/message', message('user', [text(words)], { kind: 'user' }));
  session.append('turn/start', { turn: 1 });
  user(prompt);
  mark({ id: 1, logLength: session.seq, objective: prompt });
  steps.forEach(({ text: words, reasoning, person, calls, results }, index) => {
    const step = index + 1;
    session.append('step/start', { turn: 1, step });
    append('assistant/message', { turn: 1, step, message: message('assistant', [
      ...(reasoning ? [{ type: 'reasoning', text: reasoning }] : []),
      ...(words ? [text(words)] : []),
      ...calls.map(({ id, name, args }) => ({ type: 'tool-call', id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) })),
    ], { kind: 'model', ...ROUTE }) });
    calls.forEach(({ id: callId, name, args }) => session.append('tool/call', { turn: 1, step, callId, name,
      arguments: typeof args === 'string' ? args : JSON.stringify(args) }));
    results.forEach(({ text: output, isError }, at) => {
      if (person !== undefined && at === results.length - 1) user(person);
      const { id: toolCallId } = calls[at];
      append('tool/result', { turn: 1, step, message: message('user',
        [{ type: 'tool-result', toolCallId, content: [text(output)], isError }], { kind: 'tool', callId: toolCallId }) });
    });
    session.append('step/end', { turn: 1, step });
  });
  session.append('turn/end', { turn: 1, reason: { kind: 'completed' } });
}

/**
 * Mounts the service.
 *
 * @param config - the plugin's row.
 * @returns a promise of `{ fold(exploration, prose), dispose() }`; a fold answers `{ result, sent, next, before }`:
 * its result, the messages the author was sent, the messages of the next request, and those of the log before.
 */
export async function mountWorld(config) {
  const author = new Author();
  const loop = await createLoop({
    invariants: false,
    before: (ctx) => ctx.plugin(Marks),
    plugins: [[rewind, { reportLanguage: 'auto', ...config }]],
  });
  const { ctx } = loop;
  ctx.llm.registerAdapter([ROUTE.provider], author);
  let made = 0;
  return {
    async fold(exploration, prose) {
      made += 1;
      const session = ctx.sessions.prepare(`fidelity-${made}`, { meta: { cwd: exploration.root } });
      const detach = ctx.sessions.enter(session);
      play(session, exploration, (mark) => ctx.checkpoint.marks.set(session.id, mark));
      const before = session.deriveMessages();
      author.prose = prose;
      author.messages = undefined;
      try {
        const agent = { id: session.id, session, options: ROUTE, ctx };
        const result = await ctx.rewind.rewind(agent, new AbortController().signal);
        return { result, before, sent: author.messages, next: session.deriveMessages() };
      } finally {
        ctx.checkpoint.marks.delete(session.id);
        detach();
      }
    },
    dispose: () => loop.dispose(),
  };
}
