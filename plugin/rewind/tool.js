/** The model-facing `rewind` tool (docs/rewind.md 4.1). */
import { reasonOf, RewindError } from '../host/error.js';
import { contentOf } from '../host/events.js';
import { latestReport } from '../host/reports.js';
import { defineStrictTool } from '../host/tool.js';
import { count, plural, range, size } from '../host/words.js';

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
  return defineStrictTool({
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
          report: { type: 'string', enum: ['model', 'receipt'] },
          warning: { type: 'string' },
          reportText: { type: 'string' },
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
        const result = await ctx.rewind.rewind(exec.agent, exec.signal);
        return { ...result, reportText: reportText(exec.agent.session, result) };
      } catch (error) {
        // The harness prints what is thrown, and an abort's reason is a plain object.
        throw error instanceof Error ? error : new Error(`the fold was cancelled (${reasonOf(error)}); nothing was changed`);
      }
    },
    presentCall: () => ({ card: 'generic', title: 'Fold the exploration' }),
    presentResult: (_args, { isError, meta }) => {
      if (isError) return { card: 'generic', title: 'Not folded' };
      const content = meta?.reportText && [{ type: 'text', text: meta.reportText }];
      return { card: 'generic', title: title(meta), ...(content ? { content } : {}) };
    },
  });
}

/** The landed report, for the person's card: the model reads it in the context and never in the result. */
function reportText(session, { markId }) {
  const report = latestReport(session, markId);
  return report ? contentOf(report).map((block) => block.text ?? '').join('') : '';
}

/** @returns one sentence that says what a fold did. */
export function summary(value) {
  const { markId, foldedNodes, start, end, foldedChars, reportChars, foldedTokens, reportTokens, report, warning } = value;
  const kind = report === 'receipt' ? 'report made by code alone' : 'report';
  const what = `${plural(foldedNodes, 'node')} of mark ${markId} (${range(start, end)}; ${size(foldedChars, foldedTokens)})`;
  const line = `Folded ${what} into a ${kind} (${size(reportChars, reportTokens)}). The report stands in the context in their `
    + 'place.';
  return warning ? `${line} Warning: ${warning}` : line;
}

function title(meta) {
  if (!meta) return 'Folded the exploration';
  const { foldedNodes, foldedTokens, reportTokens, foldedChars, reportChars, usage } = meta;
  const sizes = foldedTokens === undefined
    ? `${count(foldedChars)} to ${plural(reportChars, 'character')}`
    : `${count(foldedTokens)} to ${plural(reportTokens, 'token')}`;
  return `Folded ${plural(foldedNodes, 'node')}: ${sizes}${cost(usage)}`;
}

/** What the report call cost, cached input apart: it is billed at a fraction. */
function cost(usage) {
  if (!usage) return '';
  const { inputTokens = 0, cacheReadTokens, outputTokens = 0 } = usage;
  const cached = cacheReadTokens === undefined ? '' : ` and ${count(cacheReadTokens)} cached`;
  return ` (report call: ${count(inputTokens)}${cached} in, ${count(outputTokens)} out)`;
}
