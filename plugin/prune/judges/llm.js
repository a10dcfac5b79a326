/**
 * The judge `llm`: a validated text protocol over `ctx.llm` (docs/prune.md 3.2). Its numbers rank, no more.
 */
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { ask, probeRoute, providerFault, resolveRoute } from '../../host/model.js';
import { native } from '../../native.js';
import { PLUGIN } from '../receipts.js';
import { JudgeError } from './error.js';

/** An answer is a line of a few tokens a question. */
const answerTokens = (questions) => 64 + 12 * questions;

/**
 * Makes the judge.
 *
 * @param ctx - the plugin's context.
 * @param config - the row.
 * @returns an ordinal judge over the configured route, else the session's own.
 */
export function llmJudge(ctx, config) {
  const configured = { provider: config.judgeProvider, model: config.judgeModel };
  const routeOf = (agent) => resolveRoute(configured, agent.session, agent);
  return {
    id: 'llm',
    scale: 'ordinal',
    limits: { maxInputTokens: config.maxRequestTokens, maxQuestions: 100 },

    async ready(agent) {
      if (!ctx.get('llm')) return { ok: false, reason: 'the harness has no ctx.llm' };
      const unmounted = providerFault(ctx.get('llm'), 'judgeProvider', config.judgeProvider);
      if (unmounted) return { ok: false, reason: unmounted };
      if (!routeOf(agent)) return { ok: false, reason: 'no route: set judgeProvider and judgeModel' };
      return { ok: true };
    },

    async ask({ state, questions }, { agent, signal }) {
      const llm = ctx.get('llm');
      const route = routeOf(agent);
      const { effort } = await probeRoute(llm, route, signal);
      const request = (text) =>
        ask(llm, {
          provider: route.provider,
          model: route.model,
          messages: [
            createUserMessage({
              content: [{ type: 'text', text }],
              source: { kind: 'plugin', plugin: PLUGIN },
            }),
          ],
          temperature: 0,
          maxTokens: answerTokens(questions.length),
          sessionId: agent.session.id,
          signal,
          ...(effort === undefined ? {} : { reasoningEffort: effort }),
        });
      const prompt = promptOf(state, questions);
      const first = read(await request(prompt), questions);
      if (first.answers.size > 0) return { ...first, model: route.model };
      const second = read(await request(`${prompt}\n\n${complaint(first.violations)}`), questions);
      if (second.answers.size > 0) return { ...second, model: route.model };
      throw new JudgeError(
        'JUDGE_FORMAT',
        `the model gave no valid answer: ${second.violations[0] ?? 'no entry'}`,
      );
    },
  };
}

function promptOf(state, questions) {
  const statements = questions.map(({ id, statement }) => `${id}: ${statement}`);
  return [
    'Below is the record of a session, then a list of statements about it. For each statement, say how ' +
      'likely it is to be true, as a whole number from 0 (certainly false) to 100 (certainly true).',
    'Answer with one line a statement, "id=number", and nothing else. Do not explain.',
    `Record:\n${state}`,
    `Statements:\n${statements.join('\n')}`,
    `Answer with ${questions.length} lines, the first of them "${questions[0].id}=<0..100>".`,
  ].join('\n\n');
}

function complaint(violations) {
  const faults = violations.slice(0, 10).map((one) => `- ${one}`);
  return ['Your last answer could not be used.', ...faults, 'Print the lines "id=number" alone.'].join('\n');
}

function read({ finish, text, failure, usage }, questions) {
  if (finish === 'error' || finish === 'aborted') {
    throw new JudgeError('JUDGE_CALL', `the judge's model call failed: ${failure}`, { retryable: true });
  }
  const { values, violations } = native.pruneParseAnswers(
    text,
    questions.map(({ id }) => id),
  );
  const answers = new Map();
  values.forEach((value, at) => {
    if (typeof value === 'number') answers.set(questions[at].id, { p: value });
  });
  return { answers, violations, usage };
}
