/** The judge `jev` against a local server: its protocol, and every way in which it fails. */
import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { startJev } from './jev-server.js';
import { page, prune, reads, receiptsOn, resultsOn, stage } from './stage.js';

const KEY = 'sk-jev-test';
const MARKER = /characters cut by prune/;

const servers = new Set();
afterEach(async () => {
  await Promise.all([...servers].map((server) => server.close()));
  servers.clear();
});

/** A server that is gone after the test, whatever becomes of it. */
async function started(answer) {
  const server = await startJev(answer);
  servers.add(server);
  return server;
}

/** Two long reads under pressure, of which the judge is asked once, before the last step. */
async function withJev(answer, { config = {}, steps, ...more } = {}) {
  const jev = await started(answer);
  const loop = await stage({
    window: 3_000,
    pages: { a: page('a', 8_000), b: page('b', 3_000) },
    steps: steps ?? [reads('a'), reads('b')],
    config: {
      judge: 'jev',
      apiKey: KEY,
      baseUrl: jev.url,
      compactReceipts: false,
      keepMode: 'absolute',
      preserveRecent: 1,
      judgeRetryBaseMs: 20,
      ...config,
    },
    ...more,
  });
  const agent = await loop.agent();
  const { text } = await agent.prompt('What is in a?');
  assert.equal(text, 'done', 'a judge never stops a turn');
  const [{ text: result }] = resultsOn(agent);
  const status = (await agent.command('/prune status')).result.text;
  await loop.dispose();
  return {
    jev,
    cut: MARKER.test(result),
    stock: result.includes('tool result middle pruned'),
    status,
    agent,
  };
}

test('it asks as the protocol says and goes by the answer', async () => {
  const asked = await withJev(() => ({ noul: () => 0.1 }), { config: { model: 'jev-9' } });
  assert.equal(asked.cut, true);
  const [{ path, method, headers, body }] = asked.jev.requests;
  assert.deepEqual([path, method, headers.authorization], ['/v1/systemone', 'POST', `Bearer ${KEY}`]);
  assert.equal(body.model, 'jev-9');
  const [[id, question]] = Object.entries(body.questions);
  assert.match(id, /^result_s\d+$/);
  assert.equal(question.type, 'noul');
  assert.match(question.instructions, /still need the content of \[s\d+\] literally/);
  assert.ok(body.state.includes('- What is in a?'), 'the goal is there although its step was not logged yet');
  assert.ok(body.state.includes('[tool_result] ok, 8'));
});

test('a needed result stays whole', async () => {
  assert.equal((await withJev(() => ({ noul: () => 0.9 }))).cut, false);
});

for (const status of [400, 401, 403, 404, 422]) {
  test(`input 31: ${status} is final and nothing is edited`, async () => {
    const { jev, cut, stock, status: text } = await withJev(() => ({ status }));
    assert.equal(jev.requests.length, 1);
    assert.ok(!cut && !stock);
    assert.match(
      text,
      new RegExp(`Warning: the judge jev failed: jev answered ${status} \\(request req-1\\)`),
    );
  });
}

for (const status of [429, 500, 503]) {
  test(`input 31: ${status} is asked again after the base wait, then after twice of it`, async () => {
    const { jev, cut } = await withJev(({ at }) => (at < 2 ? { status } : { noul: () => 0.1 }), {
      config: { judgeRetryBaseMs: 60 },
    });
    assert.equal(jev.requests.length, 3);
    assert.ok(cut);
    const [first, second, third] = jev.requests.map(({ time }) => time);
    assert.ok(second - first >= 55 && third - second >= 115, `${second - first} ${third - second}`);
  });
}

test('retries are bounded', async () => {
  const { jev, cut } = await withJev(() => ({ status: 500 }), { config: { judgeMaxRetries: 1 } });
  assert.equal(jev.requests.length, 2);
  assert.equal(cut, false);
});

for (const [name, header, least] of [
  ['seconds', () => '1', 950],
  ['a date', () => new Date(Date.now() + 2_000).toUTCString(), 900],
]) {
  test(`a 429 waits as long as its Retry-After in ${name} says`, async () => {
    const { jev, cut } = await withJev(({ at }) =>
      at === 0 ? { status: 429, headers: { 'retry-after': header() } } : { noul: () => 0.1 },
    );
    assert.ok(cut);
    const [first, second] = jev.requests.map(({ time }) => time);
    assert.ok(second - first >= least, String(second - first));
  });
}

test('a Retry-After beyond the deadline is given up at once', async () => {
  const since = Date.now();
  const { jev, cut } = await withJev(() => ({ status: 429, headers: { 'retry-after': '30' } }));
  assert.equal(jev.requests.length, 1);
  assert.equal(cut, false);
  assert.ok(Date.now() - since < 7_000);
});

test('a service that is not there is asked again, then named', async () => {
  const gone = await startJev(() => ({ status: 500 }));
  await gone.close();
  const { jev, cut, stock, status } = await withJev(() => ({ noul: () => 0.1 }), {
    config: { baseUrl: gone.url, judgeMaxRetries: 1 },
  });
  assert.equal(jev.requests.length, 0);
  assert.ok(!cut && !stock);
  assert.match(status, /Warning: the judge jev failed: jev could not be reached: .*ECONNREFUSED/);
});

test('a redirect is not followed, for it would carry the key away', async () => {
  const other = await started(() => ({ noul: () => 0.1 }));
  const { cut } = await withJev(() => ({ status: 307, headers: { location: `${other.url}/v1/systemone` } }), {
    config: { judgeMaxRetries: 0 },
  });
  assert.equal(other.requests.length, 0);
  assert.equal(cut, false);
});

test('a judge that hangs ends with the attempt, and is asked again', async () => {
  const { jev, cut } = await withJev(({ at }) => (at === 0 ? { hang: true } : { noul: () => 0.1 }), {
    config: { judgeTimeoutMs: 150 },
  });
  assert.equal(jev.requests.length, 2);
  assert.ok(cut);
});

test('a judge that hangs for good does not hold the step past the deadline', async () => {
  const since = Date.now();
  const { jev, cut, stock, status } = await withJev(() => ({ hang: true }), {
    config: { judgeDeadlineMs: 400 },
  });
  assert.equal(jev.requests.length, 1);
  assert.ok(!cut && !stock);
  assert.ok(Date.now() - since < 5_000);
  assert.match(status, /the judge took too long/);
});

test('input 31: one batch of several fails, the answers of the others are used', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const lost = new Set();
  const jev = await started(({ body, at }) => {
    if (at === 0) for (const id of Object.keys(body.questions)) lost.add(id);
    return Object.keys(body.questions).some((id) => lost.has(id)) ? { status: 400 } : { noul: () => 0.1 };
  });
  const loop = await stage({
    window: 12_000,
    pages: Object.fromEntries(names.map((name) => [name, page(name, 6_000)])),
    steps: [reads(...names)],
    config: {
      judge: 'jev',
      apiKey: KEY,
      baseUrl: jev.url,
      compactReceipts: false,
      keepMode: 'absolute',
      preserveRecent: 1,
      // Room for a few questions in a request.
      maxStateTokens: 600,
      maxRequestTokens: 720,
      minHistoryLines: 1,
    },
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.ok(jev.requests.length >= 3, String(jev.requests.length));
  const before = agent.session.events.filter(
    ({ type, surfaceOp }) => type === 'tool/result' && surfaceOp === 'append',
  );
  const cut = resultsOn(agent).map(({ text }) => MARKER.test(text));
  const expected = before.map(({ seq }, at) => at < 6 && !lost.has(`result_s${seq}`));
  assert.ok(lost.size > 0 && lost.size < 6);
  assert.deepEqual(cut, expected);
  await loop.dispose();
});

test('input 31: values out of range are clamped, ids may be missing, text is no answer', async () => {
  assert.equal((await withJev(() => ({ noul: () => 1.7 }))).cut, false);
  assert.equal((await withJev(() => ({ noul: () => -3 }))).cut, true);
  const missing = await withJev(() => ({ noul: () => undefined }));
  assert.ok(!missing.cut);
  const garbage = await withJev(() => ({ text: 'not json' }));
  assert.equal(garbage.jev.requests.length, 3);
  assert.ok(!garbage.cut);
});

test('the cache holds: what was judged for this goal is not asked about again', async () => {
  const { jev } = await withJev(() => ({ noul: () => 0.9 }), {
    steps: [reads('a'), reads('b'), reads('b'), reads('b')],
  });
  const ids = jev.requests.flatMap(({ body }) => Object.keys(body.questions));
  assert.equal(new Set(ids).size, ids.length, String(ids));
});

test('auto takes jev while its key is good and falls to the rules when it is refused', async () => {
  for (const [status, judge] of [
    [undefined, 'jev'],
    [401, 'rules'],
    [403, 'rules'],
    [500, 'jev'],
  ]) {
    const { status: text, jev } = await withJev(() => (status ? { status } : { noul: () => 0.1 }), {
      config: { judge: 'auto' },
      steps: [reads('a'), reads('b'), reads('b')],
    });
    assert.match(text, new RegExp(`last pass: ${judge}`), String(status));
    if (status === 401) assert.equal(jev.requests.length, 1, 'a refused key is not tried again');
  }
});

test('auto without a key is the rules judge and asks nobody', async () => {
  const { status, jev } = await withJev(() => ({ noul: () => 0.1 }), {
    config: { judge: 'auto', apiKey: '' },
  });
  assert.match(status, /last pass: rules/);
  assert.equal(jev.requests.length, 0);
});

test('the key comes from the row, then the credential, then the environment', async () => {
  const jev = await started(() => ({ noul: () => 0.9 }));
  const credentials = {
    name: 'creds',
    apply: (ctx) => ctx.provide('credentials', { resolve: async (ref) => ({ value: `cred-${ref}` }) }),
  };
  const used = [];
  for (const [config, plugins] of [
    [{ apiKey: 'row' }, [[credentials]]],
    [{}, [[credentials]]],
    [{}, []],
  ]) {
    process.env.TYPESAFE_API_KEY = 'env-key';
    const loop = await stage({
      window: 3_000,
      pages: { a: page('a', 8_000) },
      steps: [reads('a'), reads('b')],
      plugins,
      config: { judge: 'jev', baseUrl: jev.url, compactReceipts: false, preserveRecent: 1, ...config },
    });
    const agent = await loop.agent();
    await agent.prompt('read');
    used.push(jev.requests.at(-1).headers.authorization);
    await loop.dispose();
    delete process.env.TYPESAFE_API_KEY;
  }
  assert.deepEqual(used, ['Bearer row', 'Bearer cred-TYPESAFE_API_KEY', 'Bearer env-key']);
});

test('jev with no key anywhere fails the load and says where one may be', async () => {
  delete process.env.TYPESAFE_API_KEY;
  const loop = await stage({ config: { enabled: false } });
  await assert.rejects(
    loop.mount(prune, prune.Config({ judge: 'jev' })),
    /judge is jev, but there is no key: set apiKey/,
  );
  await loop.dispose();
});

test('its verdicts make receipts too', async () => {
  const jev = await started(() => ({ noul: (id) => (id.startsWith('result') ? 0.05 : 0.01) }));
  const loop = await stage({
    window: 5_000,
    pages: { a: page('a', 8_000), b: page('b', 8_000) },
    steps: [reads('a'), reads('b'), reads('c')],
    config: { judge: 'jev', apiKey: KEY, baseUrl: jev.url, softLimit: '100%' },
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  assert.equal(receiptsOn(agent).length, 1);
  await loop.dispose();
});
