/** `/prune` and the heartbeat file: what a person sees and can ask for. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { act, call, say } from '../support/script.js';
import { scriptedTool } from '../support/tools.js';
import {
  assertPriced,
  assertValid,
  judgePlugin,
  page,
  reads,
  receiptsOn,
  resultsOn,
  stage,
} from './stage.js';

const MARKER = /characters cut by prune/;
const HEADER = '[compacted · deterministic receipt]';

/** A finished turn of long reads that no gate has touched. */
async function idle({ values = {}, config = {}, steps, ...more } = {}) {
  const judge = judgePlugin(({ path }) => values[path] ?? 0.05);
  const loop = await stage({
    window: 1_000_000,
    config: { judge: 'fixed', preserveRecent: 1, ...config },
    after: [[judge]],
    pages: { a: page('a', 9_000), b: page('b', 9_000), c: page('c', 9_000) },
    steps: steps ?? [reads('a'), reads('b'), reads('c')],
    ...more,
  });
  const agent = await loop.agent();
  await agent.prompt('read');
  const ask = async (line) => (await agent.command(line)).result;
  return { loop, agent, judge, ask };
}

test('status says where the session stands, and is what /prune alone answers', async () => {
  const { loop, ask } = await idle();
  const { kind, text } = await ask('/prune status');
  assert.equal(kind, 'success');
  assert.match(text, /^Judge: fixed\.$/m);
  assert.match(text, /^Context: \d,\d{3} of 1,000,000 tokens\.$/m);
  assert.match(text, /^Results: closed \(below, from 550,000 tokens\)\.$/m);
  assert.match(text, /^Receipts: closed \(below, from 700,000 tokens\)\.$/m);
  assert.match(text, /^So far: 0 passes, 0 cut by verdict/m);
  assert.equal((await ask('/prune')).text, text);
  await loop.dispose();
});

test('an unknown sub-command is an error that names the known ones', async () => {
  const { loop, ask } = await idle();
  assert.deepEqual(await ask('/prune everything'), {
    kind: 'error',
    text: '/prune everything is not known. Known: status, now, receipts, dry-run, help.',
  });
  await loop.dispose();
});

test('help names every sub-command, also where nothing is pruned', async () => {
  const { loop, ask } = await idle();
  const help = [
    'Pruning cuts results that are not needed any more and turns finished reading steps into receipts.',
    '  /prune status    judge, pressure, and what was done so far (the default)',
    '  /prune now       a pass now, whatever the pressure',
    '  /prune receipts  the receipts that stand in the context',
    '  /prune dry-run   what a pass now would do; changes nothing',
    '  /prune help      this list',
    'The log keeps the originals; they come back through recall.',
  ].join('\n');
  assert.deepEqual(await ask('/prune help'), { kind: 'success', text: help });
  assert.deepEqual(await ask('/prune  HELP '), { kind: 'success', text: help });
  const child = await loop.agent({ meta: { origin: 'subagent' } });
  assert.equal((await child.command('/prune help')).result.text, help);
  await loop.dispose();
});

test('a judge that nobody registered is named before the first pass, with those there are', async () => {
  const { loop, ask } = await idle({ config: { judge: 'nobody' } });
  const why = 'no judge "nobody" is registered (there are auto, rules, jev, llm, fixed)';
  const warning = `Warning: ${why}: results stay unjudged`;
  assert.ok((await ask('/prune status')).text.endsWith(`\n${warning}`));
  assert.equal((await ask('/prune now')).text, `Nothing was pruned: ${why}.`);
  assert.equal((await ask('/prune dry-run')).text, `Nothing would be pruned: ${why}.`);
  assert.equal((await ask('/prune status')).text.split(warning).length, 2, 'once, also after the pass has warned');
  await loop.dispose();
});

test('dry-run tells what would happen and changes nothing', async () => {
  const { loop, agent, ask } = await idle({ values: { c: 0.9 } });
  const before = agent.session.surface.nodes.slice();
  const { text } = await ask('/prune dry-run');
  assert.match(text, /^Judge: fixed\.$/m);
  assert.match(text, /^\d results? would be cut:$/m);
  assert.match(text, /^- s\d+: 9,\d{3} to 85\d characters$/m);
  assert.match(text, /^1 receipt would land:$/m);
  assert.match(text, /^- s\d+ to s\d+: about \d,\d{3} to \d+ tokens$/m);
  assert.deepEqual(agent.session.surface.nodes, before);
  loop.script.push('main', say('next'));
  await agent.prompt('go on');
  assert.deepEqual(
    agent.session.events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace'),
    [],
  );
  await loop.dispose();
});

test('now, between turns, lands full receipts at once and the rest before the next step', async () => {
  const { loop, agent, ask } = await idle({
    config: { keepMode: 'absolute' },
    values: { c: 0.9 },
    steps: [reads('a'), reads('b', 'c'), act(call('sh', 'bash', { command: 'ls' }))],
  });
  const { kind, text } = await ask('/prune now');
  assert.equal(kind, 'success');
  assert.match(text, /^1 receipt landed, \d,\d{3} characters freed\.$/m);
  assert.match(text, /results to cut, and 1 receipt inside batches.*follows before the next step/s);
  assert.equal(receiptsOn(agent).length, 1);
  assert.ok(!resultsOn(agent).some(({ text: body }) => MARKER.test(body) || body.startsWith(HEADER)));
  assertPriced(agent);

  loop.script.push('main', say('next'), say('and on'));
  await agent.prompt('go on');
  assert.ok(
    resultsOn(agent).some(({ text: body }) => MARKER.test(body) || body.startsWith(HEADER)),
    'the pressure gate is skipped once',
  );
  const replaced = agent.session.events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace').length;
  await agent.prompt('once more');
  assert.equal(
    agent.session.events.filter(({ surfaceOp }) => surfaceOp?.op === 'replace').length,
    replaced,
    'and only once',
  );
  assertValid(loop, agent);
  assertPriced(agent);
  await loop.dispose();
});

test('now, during a turn, is done before the next step', async () => {
  let answer;
  const { loop, agent } = await idle({
    tools: [scriptedTool('read', 'path', { '*': page('x', 9_000) })],
    steps: [
      reads('a'),
      reads('b'),
      reads('c'),
      async () => {
        answer = (
          await loop0.commands.execute(loop0.agents.list()[0], '/prune now', [], new AbortController().signal)
        ).result.text;
        return reads('d');
      },
    ],
    before: (ctx) => {
      loop0 = ctx;
    },
  });
  assert.equal(answer, 'A turn runs: a pass follows before its next step, whatever the pressure.');
  assert.ok(receiptsOn(agent).length > 0);
  assertValid(loop, agent);
  await loop.dispose();
});
let loop0;

test('now says when nothing was pruned, and why', async () => {
  const { loop, ask } = await idle({ config: { judgeOn: 'off' } });
  assert.deepEqual(await ask('/prune now'), { kind: 'success', text: 'Nothing was pruned: judgeOn is off.' });
  await loop.dispose();
});

test('receipts lists what stands on the surface', async () => {
  const { loop, agent, ask } = await idle({
    values: { c: 0.9 },
    config: { neverPruneTools: ['read'] },
    steps: [reads('a'), reads('b', 'c'), reads('c')],
  });
  assert.equal((await ask('/prune receipts')).text, 'No receipt stands on the surface.');
  await ask('/prune now');
  loop.script.push('main', say('next'));
  await agent.prompt('go on');
  const { text } = await ask('/prune receipts');
  assert.match(text, /^2 receipts on the surface; the originals come back through recall:$/m);
  assert.match(text, /^- s\d+: 2 events cited, 1 line of facts$/m);
  assert.match(text, /^- s\d+, one body: s\d+ read: b → \d+ chars\. Original/m);
  await loop.dispose();
});

test('a child session is refused with a sentence', async () => {
  const loop = await stage({});
  const agent = await loop.agent({ meta: { origin: 'subagent' } });
  const { kind, text } = (await agent.command('/prune now')).result;
  assert.equal(kind, 'error');
  assert.match(text, /subagents: true/);
  await loop.dispose();
});

// The heartbeat.

async function inFolder(body) {
  const folder = await mkdtemp(join(tmpdir(), 'prune-heartbeat-'));
  try {
    await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function eventually(read) {
  for (let tries = 0; tries < 200; tries += 1) {
    const value = await read().catch(() => undefined);
    if (value !== undefined) return value;
    await sleep(25);
  }
  return assert.fail('the heartbeat never came');
}

test('the heartbeat shows hooks, gates, judge, plan, exclusions and tools, and merges agents', () =>
  inFolder(async (folder) => {
    const file = join(folder, 'deep', 'heartbeat.json');
    const judge = judgePlugin(() => 0.05);
    const loop = await stage({
      window: 6_000,
      config: { judge: 'fixed', heartbeatFile: file, compactSoftLimit: '20%' },
      after: [[judge]],
      pages: { a: page('a', 9_000), b: page('b', 9_000) },
      steps: [reads('a'), act(call('sh', 'bash', { command: 'ls' })), reads('b'), say('one'), say('two')],
    });
    const [first, second] = [await loop.agent({ id: 'one' }), await loop.agent({ id: 'two' })];
    await first.prompt('read');
    await second.prompt('hi');
    const seen = await eventually(async () => {
      const value = JSON.parse(await readFile(file, 'utf8'));
      return value.agents.two?.last.gates && value.agents.one?.last.compact ? value : undefined;
    });
    const { hooks, judge: used, counters, last, warnings } = seen.agents.one;
    assert.deepEqual([used, warnings], ['fixed', []]);
    assert.deepEqual(hooks, { toolResultPruner: 'hooked', compaction: 'not hooked' });
    assert.ok(counters.passes >= 1);
    assert.deepEqual(Object.keys(last.gates).toSorted(), ['compact', 'trim', 'used', 'window']);
    assert.equal(last.gates.window, 6_000);
    assert.equal(last.gates.trim.reason, 'reached');
    assert.ok(last.trim.planned >= 0 && last.compact.population >= 1);
    for (const kept of ['Verdict', 'Tail', 'Deny', 'Budget', 'AsCut'])
      assert.equal(typeof last.trim[`keptBy${kept}`.replace('ByAs', 'As')], 'number', kept);
    for (const { count, min, median, max } of [last.trim.need, last.compact.need, last.compact.effect])
      assert.ok(count >= 1 && min === 0.05 && median === 0.05 && max === 0.05);
    assert.ok(last.compact.stays.tool === 1 || last.compact.stays.tail >= 1);
    assert.deepEqual(last.compact.tools, [
      { name: 'bash', mayCompact: false },
      { name: 'read', mayCompact: true },
    ]);
    assert.equal(seen.agents.two.last.skipped, 'gates');
    assert.deepEqual(await readdir(join(folder, 'deep')), ['heartbeat.json'], 'no half-written file is left');
    await loop.dispose();
  }));

test('a relative path is under $DSH_HOME, and a foreign file is merged into', () =>
  inFolder(async (folder) => {
    const before = process.env.DSH_HOME;
    process.env.DSH_HOME = folder;
    try {
      await writeFile(join(folder, 'beat.json'), JSON.stringify({ kept: 1, agents: { other: { x: 1 } } }));
      const loop = await stage({ config: { heartbeatFile: 'beat.json' }, steps: [] });
      const agent = await loop.agent({ id: 'mine' });
      await agent.prompt('hi');
      const seen = await eventually(async () => {
        const value = JSON.parse(await readFile(join(folder, 'beat.json'), 'utf8'));
        return value.agents.mine ? value : undefined;
      });
      assert.equal(seen.kept, 1);
      assert.deepEqual(seen.agents.other, { x: 1 });
      await loop.dispose();
    } finally {
      if (before === undefined) delete process.env.DSH_HOME;
      else process.env.DSH_HOME = before;
    }
  }));

test('a heartbeat that cannot be written is a warning only', () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, 'file'), 'not a folder');
    const loop = await stage({ config: { heartbeatFile: join(folder, 'file', 'beat.json') }, steps: [] });
    const agent = await loop.agent();
    assert.equal((await agent.prompt('hi')).text, 'done');
    await eventually(async () => {
      const { text } = (await agent.command('/prune status')).result;
      return text.includes('Warning: the heartbeat file could not be written') ? true : undefined;
    });
    await loop.dispose();
  }));
