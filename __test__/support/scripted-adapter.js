/**
 * The in-process twin of the strict provider: an adapter for the real `ctx.llm` that answers from the same
 * script, records every request and refuses a message sequence that no provider would take.
 */
import { LlmAdapter, LlmError } from '@deepseek-ai/dsh-llm';
import { Script } from './script.js';
import { rejectionsIn, toWire, wireFault } from './wire.js';

const CHARS_PER_TOKEN = 4;

function refusal(status, message, code) {
  return new LlmError(message, code ?? (status >= 500 ? 'SERVER' : 'INVALID_REQUEST'), { status });
}

function* chunksOf(step) {
  let index = 0;
  for (const [type, text] of [['reasoning', step.reasoning], ['text', step.text]]) {
    if (!text) continue;
    yield { type: 'block-start', index, blockType: type };
    yield { type: `${type}-delta`, index, text };
    yield { type: 'block-end', index, block: { type, text } };
    index += 1;
  }
  for (const { id, name, arguments: args } of step.calls ?? []) {
    yield { type: 'block-start', index, blockType: 'tool-call' };
    yield { type: 'tool-call-delta', index, id, name, argumentsDelta: args };
    yield { type: 'block-end', index, block: { type: 'tool-call', id, name, arguments: args } };
    index += 1;
  }
}

function usageOf(step, request) {
  const { input, output, cached, reasoning } = step.usage ?? {};
  return {
    inputTokens: input ?? Math.ceil(JSON.stringify(request.messages).length / CHARS_PER_TOKEN),
    outputTokens: output ?? Math.ceil((step.text ?? '').length / CHARS_PER_TOKEN),
    ...(cached === undefined ? {} : { cacheReadTokens: cached }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
  };
}

function abortOf(signal) {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/**
 * A scripted adapter. A recorded request is `{ index, lane, options, messages, maxTokens, status, fault }`,
 * where `options` are the harness's own `GenerateOptions` and `messages` their wire form.
 */
export class ScriptedAdapter extends LlmAdapter {
  requests = [];

  /**
   * @param steps - scripted steps by lane, see `script.js`.
   * @param options - `match`: further lane matchers; `model`: what `resolveModel` adds to the identity of a
   * model (an object, or a function that may throw); `gate`: awaited before each answer with its request.
   */
  constructor(steps, { match, model = {}, gate } = {}) {
    super();
    this.script = new Script(steps, match);
    this.model = model;
    this.gate = gate;
  }

  async resolveModel(provider, model) {
    const more = typeof this.model === 'function' ? await this.model(provider, model) : this.model;
    return { provider, id: model, name: model, ...more };
  }

  /** @returns the requests refused for their message sequence, see `rejectionsIn`. */
  get rejected() {
    return rejectionsIn(this.requests);
  }

  /**
   * @param lane - the lane's name.
   * @returns the recorded requests of that lane, in order.
   */
  of(lane) {
    return this.requests.filter((request) => request.lane === lane);
  }

  async* stream(options) {
    const request = {
      index: this.requests.length,
      options,
      messages: toWire(options),
      maxTokens: options.maxTokens,
      status: 200,
    };
    request.lane = this.script.laneOf(request);
    this.requests.push(request);
    const fault = wireFault(request.messages);
    if (fault) {
      Object.assign(request, { status: 400, fault });
      throw refusal(400, fault.message);
    }
    const step = await this.script.next(request);
    await this.gate?.(request);
    options.signal?.throwIfAborted();
    if (step.status !== undefined) {
      request.status = step.status;
      throw refusal(step.status, step.error ?? `scripted refusal ${step.status}`, step.code);
    }
    if (step.garbage !== undefined) throw new LlmError('scripted garbage', 'MALFORMED_RESPONSE');
    yield* chunksOf(step);
    if (step.die) throw new LlmError('scripted break of the connection', 'TRANSPORT');
    if (step.hang) await abortOf(options.signal);
    yield { type: 'usage', usage: usageOf(step, request) };
    yield { type: 'finish', reason: { kind: step.finish } };
  }
}
