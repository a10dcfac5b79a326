/**
 * A provider for the real CLI: it speaks the chat-completions stream, answers from a script, records every
 * request in full and refuses with HTTP 400, as the real APIs do, each message sequence that is not
 * wire-valid.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Script } from './script.js';
import { rejectionsIn, wireFault } from './wire.js';

const CHARS_PER_TOKEN = 4;
const CACHE_BLOCK_CHARS = 256;
const FINISH = { 'stop': 'stop', 'tool-calls': 'tool_calls', 'max-tokens': 'length' };
const HEAD = { id: 'chatcmpl-strict', object: 'chat.completion.chunk', created: 0 };

/** What a provider's prefix cache keys on: tools and messages, in the order in which they are tokenized. */
function prefixText({ tools, messages }) {
  return `${JSON.stringify(tools ?? [])}\n${messages.map((message) => JSON.stringify(message)).join('\n')}`;
}

function sharedLength(a, b) {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return at;
}

function usageOf(step, request) {
  const { input, output, cached, reasoning } = step.usage ?? {};
  const spoken = [step.text ?? '', ...(step.calls ?? []).map((one) => one.arguments)];
  const written = spoken.join('').length;
  const thought = reasoning ?? Math.ceil((step.reasoning ?? '').length / CHARS_PER_TOKEN);
  const prompt = input ?? Math.ceil(request.promptChars / CHARS_PER_TOKEN);
  const completion = output ?? Math.ceil(written / CHARS_PER_TOKEN) + thought;
  const hit = cached ?? Math.floor(request.cachedChars / CHARS_PER_TOKEN);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_cache_hit_tokens: hit,
    prompt_cache_miss_tokens: prompt - hit,
    prompt_tokens_details: { cached_tokens: hit },
    completion_tokens_details: { reasoning_tokens: thought },
  };
}

function* deltasOf(step) {
  yield { role: 'assistant', content: '' };
  if (step.reasoning) yield { reasoning_content: step.reasoning };
  const text = step.text ?? '';
  const half = Math.ceil(text.length / 2);
  for (const piece of [text.slice(0, half), text.slice(half)]) if (piece) yield { content: piece };
  for (const [index, { id, name, arguments: args }] of (step.calls ?? []).entries()) {
    yield { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] };
    yield { tool_calls: [{ index, function: { arguments: args } }] };
  }
}

function refuse(response, status, { message, type = 'invalid_request_error', param = null, code = null }) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type, param, code } }));
}

function answer(response, step, request) {
  if (step.status !== undefined) {
    refuse(response, step.status, {
      message: step.error ?? `scripted refusal ${step.status}`,
      type: step.status >= 500 ? 'server_error' : 'invalid_request_error',
      code: step.code ?? null,
    });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  if (step.garbage !== undefined) {
    response.end(step.garbage);
    return;
  }
  const head = { ...HEAD, model: request.body.model };
  const send = (fields) => response.write(`data: ${JSON.stringify({ ...head, ...fields })}\n\n`);
  for (const delta of deltasOf(step)) send({ choices: [{ index: 0, delta, finish_reason: null }] });
  if (step.hang) return;
  if (step.die) {
    // Let the bytes leave first, so that the client has half an answer in hand when the connection breaks.
    response.write(': last words\n\n', () => response.destroy());
    return;
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: FINISH[step.finish] ?? step.finish }] });
  send({ choices: [], usage: usageOf(step, request) });
  response.end('data: [DONE]\n\n');
}

async function bodyOf(incoming) {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/**
 * Starts a provider on a free port of the loopback interface.
 *
 * A recorded request is `{ index, lane, path, headers, body, maxTokens, messages, tools, sessionId, status,
 * fault, promptChars, cachedChars }`: `fault` is the 400 it was given for its message sequence, `cachedChars`
 * the length of the prefix it shares with an earlier request, in the whole blocks a prefix cache would hit.
 *
 * @param steps - scripted steps by lane, see `script.js`.
 * @param options - `match`: further lane matchers.
 * @returns a promise of `{ url, requests, script, of(lane), rejected, waitFor(test), close() }`.
 */
export async function startProvider(steps, { match } = {}) {
  const script = new Script(steps, match);
  const requests = [];
  const waiting = new Set();

  const record = (incoming, body) => {
    const text = prefixText({ tools: body.tools, messages: body.messages ?? [] });
    const shared = requests.reduce((most, earlier) => Math.max(most, sharedLength(earlier.text, text)), 0);
    const request = {
      index: requests.length,
      path: incoming.url,
      headers: incoming.headers,
      body,
      maxTokens: body.max_tokens,
      messages: body.messages,
      tools: body.tools,
      sessionId: incoming.headers['x-deepseek-harness-session-id'],
      promptChars: text.length,
      cachedChars: shared - (shared % CACHE_BLOCK_CHARS),
      status: 200,
    };
    request.lane = script.laneOf(request);
    Object.defineProperty(request, 'text', { value: text });
    requests.push(request);
    return request;
  };

  const handle = async (incoming, response) => {
    const body = await bodyOf(incoming);
    if (incoming.method !== 'POST' || !incoming.url.endsWith('/chat/completions')) {
      refuse(response, 404, { message: `Unknown request URL: ${incoming.method} ${incoming.url}.` });
      return;
    }
    const request = record(incoming, body);
    for (const waiter of waiting) waiter(request);
    const fault = wireFault(body.messages);
    if (fault) {
      Object.assign(request, { status: 400, fault });
      refuse(response, 400, { message: fault.message, param: `messages.[${fault.index}]` });
      return;
    }
    const step = await script.next(request);
    request.status = step.status ?? 200;
    answer(response, step, request);
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error) => {
      // 422 is not retried by the harness, so a script that ran dry ends the run at once, with its reason.
      if (!response.headersSent) refuse(response, 422, { message: String(error?.message ?? error) });
      else response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    script,
    of: (lane) => requests.filter((request) => request.lane === lane),
    get rejected() {
      return rejectionsIn(requests);
    },
    /** Resolves with the first recorded request, past or coming, that passes the test. */
    waitFor(test) {
      const past = requests.find(test);
      if (past) return Promise.resolve(past);
      return new Promise((resolve) => {
        const waiter = (request) => {
          if (!test(request)) return;
          waiting.delete(waiter);
          resolve(request);
        };
        waiting.add(waiter);
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
