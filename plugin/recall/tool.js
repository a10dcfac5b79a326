/** The model-facing `recall` tool. Its texts are short: they are part of every request. */
import { setImmediate as nextTick } from 'node:timers/promises';
import { defineTool } from '@deepseek-ai/dsh-tools';
import { harness } from '../host/compat.js';
import { RewindError } from '../host/error.js';
import { replacementsOf } from '../host/replaced.js';

/**
 * Builds the tool.
 *
 * @param {{ maxRecallChars: number }} config - the bound on one result.
 * @returns {object} the definition for `ctx.tools.register`.
 */
export function recallTool({ maxRecallChars }) {
  return defineTool({
    name: 'recall',
    description: 'Read again what was folded, shortened or compacted away.',
    parameters: {
      seq: { type: 'integer', description: 'A report, a shortened result, or any seq one names, as in [s12].' },
      path: { type: 'string', description: 'Only calls on this path, and their results.' },
      pattern: { type: 'string', description: 'Only lines that match this regular expression.' },
      offset: { type: 'integer', description: 'Where to go on.' },
      limit: { type: 'integer', description: `Chars to return, at most ${maxRecallChars}.` },
    },
    output: { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] },
    isConcurrencySafe: () => true,
    async execute(args, { agent, signal }) {
      if (agent === undefined) {
        throw new RewindError('NO_SESSION', 'recall reads the session of an agent: call it from one.');
      }
      return recall(agent.session, args, maxRecallChars, signal);
    },
    presentCall: (args) => ({ card: 'generic', title: title(args), kind: 'search' }),
  });
}

/** Hands over the text that the core asks for, batch by batch, so that a large session blocks nobody for long. */
async function recall(session, args, maxRecallChars, signal) {
  const run = classified(() => replacementsOf(session)
    .recall(JSON.stringify(args), harness.logLength(session), maxRecallChars));
  for (let seqs = run.wants(); seqs.length > 0; seqs = run.wants()) {
    if (signal.aborted) throw signal.reason;
    // `JSON.stringify` writes lone surrogates as escapes, so nothing is lost on the way.
    classified(() => run.read(JSON.stringify(Array.from(seqs, (seq) => harness.eventAt(session, seq)))));
    await nextTick();
  }
  return classified(() => run.close());
}

/** A refusal of the core as this package's error, so that its code reaches the log. */
function classified(action) {
  try {
    return action();
  } catch (error) {
    throw new RewindError(error.code, error.message, { cause: error });
  }
}

function title({ seq, path, pattern }) {
  const keys = [
    seq === undefined ? undefined : `s${seq}`,
    path,
    pattern === undefined ? undefined : `/${pattern}/`,
  ];
  return ['Recall', ...keys.filter((key) => key !== undefined)].join(' ');
}
