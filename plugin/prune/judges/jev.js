/** The judge `jev`: the hosted HTTP service, by plain fetch (docs/prune.md 3.2). */
import { head } from '../../host/words.js';
import { JudgeError } from './error.js';

/** Credential and environment variable that hold the key. */
export const KEY_NAME = 'TYPESAFE_API_KEY';

/** The refusals that a retry cannot change. */
const FATAL = new Set([400, 401, 403, 404, 422]);
const BODY_CHARS = 300;

/**
 * Finds the key: the configuration's, else the harness's credential, else the environment.
 *
 * @param ctx - the plugin's context.
 * @param config - the row.
 * @returns the key, undefined where there is none.
 */
export async function resolveKey(ctx, config) {
  if (config.apiKey !== '') return config.apiKey;
  const credential = await ctx.get('credentials')?.resolve(KEY_NAME);
  return credential?.value || process.env[KEY_NAME]?.trim() || undefined;
}

/**
 * Makes the judge.
 *
 * @param ctx - the plugin's context.
 * @param config - the row.
 * @returns a judge whose numbers are probabilities; `refused` tells that its key was answered 401 or 403.
 */
export function jevJudge(ctx, config) {
  const url = `${config.baseUrl.replace(/\/$/, '')}/v1/systemone`;
  let refusedKey;
  return {
    id: 'jev',
    scale: 'probability',
    limits: { maxInputTokens: 32_000, maxQuestions: 1_000 },

    async ready() {
      const key = await resolveKey(ctx, config);
      if (key === undefined) return { ok: false, reason: `no key: set apiKey, or ${KEY_NAME}` };
      if (key === refusedKey) return { ok: false, reason: 'the key was refused' };
      return { ok: true };
    },

    async ask({ state, questions }, { signal }) {
      const key = await resolveKey(ctx, config);
      if (key === undefined) throw new JudgeError('JUDGE_KEY', `jev has no key: set apiKey, or ${KEY_NAME}`);
      const response = await send(
        url,
        key,
        { model: config.model, state, questions: asked(questions) },
        signal,
      );
      if (response.status === 401 || response.status === 403) refusedKey = key;
      if (!response.ok) throw await refusal(response);
      return answered(await body(response));
    },
  };
}

function asked(questions) {
  return Object.fromEntries(
    questions.map(({ id, statement }) => [id, { type: 'noul', instructions: statement }]),
  );
}

async function send(url, key, payload, signal) {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'authorization': `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(payload),
      // A redirect would carry the key to another place.
      redirect: 'error',
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const detail = error.cause?.message ?? error.message;
    throw new JudgeError('JUDGE_NETWORK', `jev could not be reached: ${detail}`, {
      retryable: true,
      cause: error,
    });
  }
}

async function refusal(response) {
  const { status, headers } = response;
  const request = headers.get('x-typesafe-request-id');
  const said = head(await response.text().catch(() => ''), BODY_CHARS);
  const message = `jev answered ${status}${request ? ` (request ${request})` : ''}${said ? `: ${said}` : ''}`;
  return new JudgeError('JUDGE_HTTP', message, {
    status,
    retryable: !FATAL.has(status) && (status === 429 || status >= 500),
    retryAfterMs: retryAfterMs(headers.get('retry-after')),
  });
}

/** Seconds or a date, as HTTP has it. */
function retryAfterMs(value) {
  if (value === null || value.trim() === '') return undefined;
  const seconds = Number(value);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

async function body(response) {
  try {
    return await response.json();
  } catch (error) {
    throw new JudgeError('JUDGE_FORMAT', 'jev answered what is not JSON', { retryable: true, cause: error });
  }
}

function answered({ answers, model, usage } = {}) {
  if (typeof answers !== 'object' || answers === null) {
    throw new JudgeError('JUDGE_FORMAT', 'jev answered without answers');
  }
  const values = new Map();
  for (const [id, answer] of Object.entries(answers)) {
    if (answer?.type === 'noul' && typeof answer.noul === 'number') values.set(id, { p: answer.noul });
  }
  return { answers: values, model, usage };
}
