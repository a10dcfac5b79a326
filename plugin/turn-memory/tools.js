/** The two model-facing tools (docs/turn-memory.md 2.3). Their texts are short: they are part of every request. */
import { defineStrictTool } from '../host/tool.js';
import { refusal } from './plan.js';
import { findTurn, transcriptOf } from './recall.js';

const OUTPUT = { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] };

/**
 * Builds `expand_turn`. A raw recall reads the log and may run beside other calls; an agentic one is exclusive.
 *
 * @param config - the resolved row.
 * @param recall - where questions are answered.
 * @returns the definition for `ctx.tools.register`.
 */
export function expandTool(config, recall) {
  return defineStrictTool({
    name: 'expand_turn',
    description: 'Recall an earlier turn as it was before its summary. mode "agentic" (default) answers one precise '
      + 'question about it; mode "raw" returns its whole record, cut in the middle when it is very long.',
    parameters: {
      turn: { type: 'integer', required: true, description: 'The turn\'s number, as in <turn-summary turn="3">.' },
      question: { type: 'string', description: 'What to find out; needed in mode "agentic".' },
      mode: { type: 'string', description: '"agentic" or "raw".' },
    },
    output: OUTPUT,
    isConcurrencySafe: (args) => args?.mode === 'raw',
    async execute({ turn, question, mode = 'agentic' }, { agent, signal }) {
      if (agent === undefined) throw noAgent('expand_turn');
      if (mode !== 'agentic' && mode !== 'raw') {
        throw refusal('BAD_MODE', `there is no mode ${JSON.stringify(mode)}; use "agentic" or "raw".`);
      }
      const facts = findTurn(agent.session, turn);
      if (mode === 'raw') return transcriptOf(agent.session, facts, config);
      const asked = (question ?? '').trim();
      if (asked === '') {
        throw refusal('QUESTION_REQUIRED', 'mode "agentic" answers a question: give one, or use mode "raw".');
      }
      return recall.answer(agent, facts, asked, signal);
    },
    presentCall: ({ turn, mode }) => ({
      card: 'generic',
      title: mode === 'raw' ? `Recall turn ${turn}` : `Ask about turn ${turn}`,
      kind: 'search',
    }),
  });
}

/**
 * Builds `compact_turn`, which starts a summary and returns at once.
 *
 * @param coordinators - the sessions' turns.
 * @returns the definition for `ctx.tools.register`.
 */
export function compactTool(coordinators) {
  return defineStrictTool({
    name: 'compact_turn',
    description: 'Summarize an ended turn that still stands raw, for instance after a restart. Runs in the background. '
      + 'Without a turn: the newest one without a summary.',
    parameters: { turn: { type: 'integer', description: 'The turn\'s number.' } },
    output: OUTPUT,
    async execute({ turn }, { agent }) {
      if (agent === undefined) throw noAgent('compact_turn');
      const coordinator = coordinators.of(agent);
      if (coordinator === undefined) {
        throw refusal('NOT_ELIGIBLE', 'the turns of a subagent\'s session are not summarized.');
      }
      return coordinator.request(turn === undefined ? undefined : findTurn(agent.session, turn).number);
    },
    presentCall: ({ turn }) => ({
      card: 'generic',
      title: turn === undefined ? 'Summarize a turn' : `Summarize turn ${turn}`,
      kind: 'other',
    }),
  });
}

function noAgent(tool) {
  return refusal('NO_AGENT', `${tool} works on the session of the agent that calls it, and this call has none.`);
}
