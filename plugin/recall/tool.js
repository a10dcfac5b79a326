/** The model-facing `recall` tool. Its texts are short: they are part of every request. */
import { RewindError } from '../host/error.js';
import { recallText } from '../host/replaced.js';
import { defineStrictTool } from '../host/tool.js';

/**
 * Builds the tool.
 *
 * @param {{ maxRecallChars: number }} config - the bound on one result.
 * @returns {object} the definition for `ctx.tools.register`.
 */
export function recallTool({ maxRecallChars }) {
  return defineStrictTool({
    name: 'recall',
    description: 'Read again what was folded, shortened or compacted away.',
    parameters: {
      seq: {
        type: 'integer',
        description: 'A report, a shortened result, or any seq one names, as in [s12].',
      },
      path: { type: 'string', description: 'Only calls on this path, and their results.' },
      pattern: { type: 'string', description: 'Only lines that match this regular expression.' },
      offset: { type: 'integer', description: 'Where to go on.' },
      limit: { type: 'integer', description: `Chars to return, at most ${maxRecallChars}.` },
    },
    output: { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] },
    isConcurrencySafe: () => true,
    async execute({ seq, path, pattern, offset, limit }, { agent, signal }) {
      if (agent === undefined) {
        throw new RewindError('NO_SESSION', 'recall reads the session of an agent: call it from one.');
      }
      try {
        return await recallText(agent.session, { seq, path, pattern, offset, limit }, maxRecallChars, signal);
      } catch (error) {
        // The harness prints what is thrown, and an abort's reason is a plain object.
        throw error instanceof Error ? error : new Error('the recall was cancelled');
      }
    },
    presentCall: (args) => ({ card: 'generic', title: title(args), kind: 'search' }),
  });
}

function title({ seq, path, pattern }) {
  const keys = [
    seq === undefined ? undefined : `s${seq}`,
    path,
    pattern === undefined ? undefined : `/${pattern}/`,
  ];
  return ['Recall', ...keys.filter((key) => key !== undefined)].join(' ');
}
