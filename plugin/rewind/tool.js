/** The model-facing `rewind` tool (spec/rewind.md 4.1). */
import { defineTool } from '@deepseek-ai/dsh-tools';
import { RewindError } from '../host/error.js';

const NUMBER = { type: 'integer' };
const COUNT = { type: 'integer', required: true };

/**
 * Defines the tool.
 *
 * @param ctx - the entry plugin's context.
 * @param config - the resolved row.
 * @returns the definition to register.
 */
export function rewindTool(ctx, { toolName, checkpointToolName }) {
  return defineTool({
    name: toolName,
    description: `Fold everything since the last \`${checkpointToolName}\` into one generated report. Call it when the `
      + 'exploration is finished, before unrelated work. Takes no arguments.',
    parameters: {},
    output: {
      schema: {
        type: 'object',
        additionalProperties: false,
        properties: {
          markId: { oneOf: [{ type: 'integer' }, { type: 'string' }], required: true },
          foldedNodes: COUNT,
          start: COUNT,
          end: COUNT,
          foldedChars: COUNT,
          reportChars: COUNT,
          foldedTokens: NUMBER,
          reportTokens: NUMBER,
          usage: { type: 'object', additionalProperties: true },
          warning: { type: 'string' },
        },
      },
      render: (_args, value) => [{ type: 'text', text: summary(value) }],
      presentationMeta: (_args, value) => value,
    },
    async execute(_args, exec) {
      if (!exec.agent) {
        throw new RewindError('NO_CHECKPOINT', `\`${toolName}\` folds the session of the agent that calls it, and this call has none.`);
      }
      try {
        return await ctx.rewind.rewind(exec.agent, exec.signal);
      } catch (error) {
        // The harness prints what is thrown, and an abort's reason is a plain object.
        throw error instanceof Error ? error : new Error(`the fold was cancelled (${error?.kind ?? String(error)}); nothing was changed`);
      }
    },
    presentCall: () => ({ card: 'generic', title: 'Fold the exploration' }),
    presentResult: (_args, result) => ({
      card: 'generic',
      title: result.isError ? 'Not folded' : title(result.meta),
    }),
  });
}

function size(chars, tokens) {
  return tokens === undefined ? `${chars} characters` : `${chars} characters, about ${tokens} tokens`;
}

/** @returns one sentence that says what a fold did. */
export function summary({ markId, foldedNodes, start, end, foldedChars, reportChars, foldedTokens, reportTokens, warning }) {
  const line = `Folded ${foldedNodes} steps of mark ${markId} (seq ${start} to ${end}; ${size(foldedChars, foldedTokens)}) into a `
    + `report (${size(reportChars, reportTokens)}). The report stands in the context in their place.`;
  return warning ? `${line} Warning: ${warning}` : line;
}

function title(meta) {
  if (!meta) return 'Folded the exploration';
  const { foldedNodes, foldedTokens, reportTokens, foldedChars, reportChars } = meta;
  return foldedTokens === undefined
    ? `Folded ${foldedNodes} steps: ${foldedChars} to ${reportChars} characters`
    : `Folded ${foldedNodes} steps: ${foldedTokens} to ${reportTokens} tokens`;
}
