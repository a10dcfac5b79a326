import assert from 'node:assert/strict';
import test from 'node:test';
import { act, call, say } from './script.js';
import { startProvider } from './strict-provider.js';

const USER = { role: 'user', content: 'hello' };

async function provider(t, steps, options) {
  const started = await startProvider(steps, options);
  t.after(() => started.close());
  return started;
}

function post({ url }, body, signal) {
  return fetch(`${url}/chat/completions`, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', 'x-deepseek-harness-session-id': 'session-1' },
    body: JSON.stringify({ model: 'm', stream: true, max_tokens: 256000, messages: [USER], ...body }),
  });
}

async function eventsOf(response) {
  const text = await response.text();
  return text.split('\n\n').filter((line) => line.startsWith('data: '))
    .map((line) => (line === 'data: [DONE]' ? 'DONE' : JSON.parse(line.slice(6))));
}

function joined(events, field) {
  return events.map((event) => event.choices?.[0]?.delta?.[field] ?? '').join('');
}

test('text, reasoning, finish and usage are streamed', async (t) => {
  const server = await provider(t, { main: [
    say('Hello there', { reasoning: 'hm', usage: { input: 100, output: 20, cached: 64, reasoning: 5 } }),
    say('cut', { finish: 'max-tokens' }),
  ] });
  const events = await eventsOf(await post(server));
  assert.equal(joined(events, 'content'), 'Hello there');
  assert.equal(joined(events, 'reasoning_content'), 'hm');
  assert.equal(events.at(-1), 'DONE');
  assert.equal(events.at(-3).choices[0].finish_reason, 'stop');
  assert.deepEqual(events.at(-2).usage, {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_cache_hit_tokens: 64,
    prompt_cache_miss_tokens: 36,
    prompt_tokens_details: { cached_tokens: 64 },
    completion_tokens_details: { reasoning_tokens: 5 },
  });
  const cut = await eventsOf(await post(server));
  assert.equal(cut.at(-3).choices[0].finish_reason, 'length');
});

test('tool calls keep their ids, order and arguments', async (t) => {
  const calls = [call('c1', 'read', { path: 'a' }), call('c1', 'bash', 'not json')];
  const server = await provider(t, { main: [act(calls)] });
  const events = await eventsOf(await post(server));
  const parts = events.flatMap((event) => event.choices?.[0]?.delta?.tool_calls ?? []);
  const at = (index) => parts.filter((part) => part.index === index);
  assert.deepEqual([at(0)[0].id, at(1)[0].id], ['c1', 'c1']);
  assert.deepEqual([at(0)[0].function.name, at(1)[0].function.name], ['read', 'bash']);
  assert.equal(at(0).map((part) => part.function.arguments).join(''), '{"path":"a"}');
  assert.equal(at(1).map((part) => part.function.arguments).join(''), 'not json');
  assert.equal(events.at(-3).choices[0].finish_reason, 'tool_calls');
});

test('each kind of request takes its own steps', async (t) => {
  const server = await provider(
    t,
    { main: [say('main')], report: [say('report')], judge: [say('judge')] },
    { match: { judge: ({ messages }) => messages[0].content === 'judge this' } },
  );
  const said = async (body) => joined(await eventsOf(await post(server, body)), 'content');
  assert.equal(await said({ max_tokens: 64 }), 'A title');
  assert.equal(await said({ max_tokens: 1024 }), 'report');
  assert.equal(await said({ messages: [{ role: 'user', content: 'judge this' }] }), 'judge');
  assert.deepEqual(server.script.left, { main: 1 });
  assert.equal(await said({}), 'main');
  assert.deepEqual(server.requests.map(({ lane }) => lane), ['title', 'report', 'judge', 'main']);
  assert.deepEqual(server.script.left, {});
});

test('requests are recorded in full, with the prefix that a cache would hit', async (t) => {
  const server = await provider(t, { main: [say('one'), say('two')] });
  const long = { role: 'user', content: 'x'.repeat(2000) };
  const tools = [{ type: 'function', function: { name: 'read' } }];
  await eventsOf(await post(server, { messages: [long], tools }));
  const more = [long, { role: 'assistant', content: 'one' }, USER];
  await eventsOf(await post(server, { messages: more, tools }));
  const [first, second] = server.of('main');
  assert.equal(first.sessionId, 'session-1');
  assert.deepEqual(first.messages, [long]);
  assert.equal(first.tools[0].function.name, 'read');
  assert.equal(first.cachedChars, 0);
  assert.equal(second.cachedChars, first.promptChars - (first.promptChars % 256));
});

test('a sequence that is not wire-valid gets HTTP 400 and is listed', async (t) => {
  const server = await provider(t, { main: [say('unused')] });
  const orphan = { role: 'tool', tool_call_id: 'c9', content: 'x' };
  const response = await post(server, { messages: [USER, orphan] });
  assert.equal(response.status, 400);
  const { error } = await response.json();
  assert.equal(error.type, 'invalid_request_error');
  assert.equal(error.param, 'messages.[1]');
  assert.match(error.message, /^Messages with role 'tool' must be a response to a preceding message/);
  assert.deepEqual(server.rejected, [{ request: 0, lane: 'main', index: 1, message: error.message }]);
  assert.deepEqual(server.script.left, { main: 1 }, 'a refused request takes no step');
});

test('a scripted refusal is not a fault of the sequence', async (t) => {
  const server = await provider(t, { main: [{ status: 500, error: 'boom' }] });
  const response = await post(server);
  assert.equal(response.status, 500);
  assert.equal((await response.json()).error.message, 'boom');
  assert.equal(server.requests[0].status, 500);
  assert.deepEqual(server.rejected, []);
});

test('a script that ran dry says which lane', async (t) => {
  const server = await provider(t, { main: [] });
  const response = await post(server);
  assert.equal(response.status, 422);
  assert.match((await response.json()).error.message, /request 1 of lane "main" has no step/);
});

test('a hang, a break in the stream and garbage', async (t) => {
  const server = await provider(t, { main: [
    say('half', { hang: true }), say('half', { die: true }), { garbage: 'data: {not json\n\n' },
  ] });
  const impatient = async () => eventsOf(await post(server, {}, AbortSignal.timeout(300)));
  await assert.rejects(impatient, { name: 'TimeoutError' });
  await assert.rejects(async () => eventsOf(await post(server)), TypeError);
  assert.equal(await (await post(server)).text(), 'data: {not json\n\n');
});

test('a step may wait, and a test may wait for a request', async (t) => {
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  const server = await provider(t, { main: [async ({ messages }) => {
    await held;
    return say(`saw ${messages.length}`);
  }] });
  const pending = post(server);
  const request = await server.waitFor(({ lane }) => lane === 'main');
  assert.equal(request.index, 0);
  release();
  assert.equal(joined(await eventsOf(await pending), 'content'), 'saw 1');
});
