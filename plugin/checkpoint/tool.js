/** The model-facing `checkpoint` tool. */
import { defineStrictTool } from '../host/tool.js';
import { cleanObjective, MARK_META, markHead } from './marks.js';

/**
 * Builds the tool over the marks. It may be called inside a `run_code` program too: there the mark belongs to
 * the `run_code` call, which is the one that the model sees, and the harness's record of the inner call takes
 * the place of `meta`.
 *
 * @param {import('./marks.js').Marks} marks - where they are taken.
 * @param {{ toolName: string, rewindToolName: string }} config - the names that the texts use.
 * @returns {object} the definition for `ctx.tools.register`.
 */
export function checkpointTool(marks, { toolName, rewindToolName }) {
  return defineStrictTool({
    name: toolName,
    description: 'Mark this point before you read, search or try several things whose details will not '
      + `matter afterwards. Explore as you like, then call \`${rewindToolName}\`: everything after the mark `
      + 'leaves your context and one report of what you found takes its place.',
    parameters: {
      objective: {
        type: 'string',
        description: 'What the exploration is to find out, in one line. The report answers it.',
      },
    },
    output: {
      schema: {
        type: 'object',
        additionalProperties: false,
        properties: {
          id: { type: 'integer', required: true },
          logLength: { type: 'integer', required: true },
          callId: { type: 'string', required: true },
          objective: { type: 'string' },
        },
      },
      render: (_args, { id }) => [{
        type: 'text',
        text: `${markHead(id)} Explore now, and call \`${rewindToolName}\` as soon as you have found out.`,
      }],
      presentationMeta: (_args, mark) => ({ [MARK_META]: mark }),
    },
    async execute({ objective }, { agent, callId, rootCallId }) {
      if (agent === undefined) {
        throw new Error(`${toolName} marks an agent's session, and this call has none.`);
      }
      const mark = marks.of(agent.session).take(cleanObjective(objective), { callId, rootCallId });
      return factsOf(mark);
    },
    presentCall: ({ objective }) => ({
      card: 'generic',
      title: ['Checkpoint', cleanObjective(objective)].filter(Boolean).join(': '),
      kind: 'other',
    }),
  });
}

/** What never changes about a mark: its fate is read from the log. */
function factsOf({ foldedAt: _fate, ...facts }) {
  return facts;
}
