/** Recall on the real loop: by every key, over every kind of replacement, without touching the surface. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import * as rewind from '../../index.js';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import * as recall from '../../plugin/recall/index.js';
import { createLoop } from '../support/loop.js';
import { act, call, say } from '../support/script.js';
import { bashTool, readTool } from '../support/tools.js';

const FILES = {
  'src/a.rs': `fn main() {\n    let port = 7777;\n}\n${'// filler\n'.repeat(200)}`,
  'src/b.rs': `mod b;\n${'// more filler\n'.repeat(200)}`,
};

async function loopOf(t, { steps, tools = [], plugins = [[rewind, {}], [checkpoint, {}], [recall, {}]], ...more }) {
  const loop = await createLoop({
    tools: [readTool(FILES), ...tools],
    plugins,
    steps: { main: steps, report: [say('The port is 7777, set in src/a.rs.'), say('Second report: b is empty.')] },
    ...more,
  });
  t.after(() => loop.dispose());
  return loop;
}

const read = (id, path) => call(id, 'read', { path });
const EXPLORATION = [
  act([call('cp', 'checkpoint', { objective: 'find the port' })]),
  act([read('r1', 'src/a.rs')], { text: 'I look at a.' }),
  act([read('r2', 'src/b.rs')]),
  act([call('rw', 'rewind')]),
  say('It is 7777.'),
];

let calls = 0;

/** Lets the model call `recall` and tells what came of it, having checked that nothing but the log grew. */
async function ask(loop, agent, args) {
  const id = `recall-${calls += 1}`;
  const before = agent.surface().map(({ seq }) => seq);
  loop.script.push('main', act([call(id, 'recall', args)]), say('I see.'));
  await agent.prompt('look it up');
  assert.deepEqual(agent.surface().map(({ seq }) => seq).slice(0, before.length), before);
  assert.deepEqual(loop.rejected, []);
  const { text, isError, error } = agent.results().find(({ callId }) => callId === id);
  return { text, isError, code: error?.code };
}

const reportOf = (agent) => agent.session.events
  .findLast(({ type, data }) => type === 'user/message' && data.source.plugin === 'rewind');
const resultFor = (agent, callId) => agent.results().find((result) => result.callId === callId);

test('what a fold took is given back by seq, path and pattern', async (t) => {
  const loop = await loopOf(t, { steps: [...EXPLORATION] });
  const agent = await loop.agent();
  await agent.prompt('which port?');
  const { seq } = reportOf(agent);
  const [a, b] = ['r1', 'r2'].map((id) => resultFor(agent, id));

  const bySeq = await ask(loop, agent, { seq });
  assert.equal(bySeq.isError, false);
  assert.match(bySeq.text, new RegExp(`s${a.seq} read {"path":"src/a.rs"} \\(${a.text.length} chars\\)\nfn main`));
  assert.match(bySeq.text, /^s\d+ assistant \(\d+ chars\)\nI look at a\.\ncall read {"path":"src\/a\.rs"}\n\ns/);
  assert.ok(bySeq.text.includes(b.text.trimEnd()));

  const node = await ask(loop, agent, { seq: b.seq });
  assert.equal(node.text, `s${b.seq} read {"path":"src/b.rs"} (${b.text.length} chars)\n${b.text.trimEnd()}`);
  const dispatch = agent.session.events.find(({ type, data }) => type === 'tool/call' && data.callId === 'r2');
  assert.equal((await ask(loop, agent, { seq: dispatch.seq })).text, node.text);

  const byPath = await ask(loop, agent, { path: 'a.rs' });
  assert.ok(byPath.text.includes('let port') && !byPath.text.includes('mod b'));
  const byPattern = await ask(loop, agent, { pattern: 'port = \\d+' });
  const head = `s${a.seq} read {"path":"src/a.rs"} (${a.text.length} chars, 1 line matches)`;
  assert.equal(byPattern.text, `${head}\n2:     let port = 7777;`);
});

test('a slice is bounded and says where to go on', async (t) => {
  const plugins = [[rewind, {}], [checkpoint, {}], [recall, { maxRecallChars: 1_000 }]];
  const loop = await loopOf(t, { steps: [...EXPLORATION], plugins });
  const agent = await loop.agent();
  await agent.prompt('which port?');
  const { seq } = reportOf(agent);
  let offset = 0;
  let pages = 0;
  let filler = 0;
  while (offset !== undefined) {
    const { text } = await ask(loop, agent, { seq, offset, limit: 5_000 });
    assert.ok(text.length <= 1_000, `${text.length}`);
    filler += text.split('// more filler').length - 1;
    offset = text.match(/\n\[more: offset (\d+)\]$/)?.[1];
    offset = offset === undefined ? undefined : Number(offset);
    pages += 1;
  }
  assert.ok(pages >= 5 && pages <= 8, `${pages} pages`);
  assert.ok(filler >= 190 && filler <= 200, `${filler} of 200 lines, some of them cut by a page's end`);
});

test('refusals say what there is, and their codes reach the log', async (t) => {
  const loop = await loopOf(t, { steps: [say('hello')] });
  const agent = await loop.agent();
  await agent.prompt('hi');
  const nothing = await ask(loop, agent, { seq: 0 });
  assert.deepEqual([nothing.isError, nothing.code], [true, 'NOTHING_FOLDED']);
  loop.script.push('main', ...EXPLORATION);
  await agent.prompt('which port?');
  const { seq } = reportOf(agent);
  const codes = [];
  for (const args of [{}, { seq: 9_999 }, { seq: 0 }, { pattern: 'nowhere' }, { pattern: '(' }, { path: '' }, { seq: -1 }]) {
    const refused = await ask(loop, agent, args);
    assert.equal(refused.isError, true);
    codes.push(refused.code);
    if (!['BAD_PATTERN', 'BAD_QUERY'].includes(refused.code)) assert.match(refused.text, new RegExp(`s${seq} for s\\d+`));
  }
  assert.deepEqual(codes, [
    'BAD_QUERY', 'NO_SUCH_SEQ', 'NO_SUCH_SEQ', 'NO_MATCH', 'BAD_PATTERN', 'BAD_QUERY', 'NO_SUCH_SEQ',
  ]);
});

test('both segments of a fold split by steering, and a rewritten sibling', async (t) => {
  const person = {};
  const steering = bashTool(() => {
    person.steer('only in staging!');
    return 'bash output\n'.repeat(100);
  });
  const loop = await loopOf(t, {
    tools: [steering],
    steps: [
      act([call('cp', 'checkpoint'), read('sibling', 'src/a.rs')]),
      act([call('b1', 'bash', { command: 'make' })]),
      act([read('r2', 'src/b.rs')]),
      act([call('rw', 'rewind')]),
      say('done'),
    ],
  });
  const agent = await loop.agent();
  person.steer = (words) => agent.steer(words);
  await agent.prompt('which port?');
  const { seq } = reportOf(agent);
  const pointer = agent.surface().find(({ data }) => data.source?.plugin === 'rewind-pointer');
  const first = await ask(loop, agent, { seq: pointer.seq });
  assert.ok(first.text.includes('bash output') && !first.text.includes('filler'));
  const last = await ask(loop, agent, { seq });
  assert.ok(last.text.includes('more filler') && !last.text.includes('bash output'));

  const [original, rewritten] = agent.results().filter(({ callId }) => callId === 'sibling');
  const back = await ask(loop, agent, { seq: rewritten.seq });
  assert.equal(back.text, `s${original.seq} read {"path":"src/a.rs"} (${original.text.length} chars)\n${original.text.trimEnd()}`);
  const found = await ask(loop, agent, { path: 'src/a.rs', pattern: 'port' });
  assert.ok(found.text.startsWith(`s${original.seq} read`));
});

/** What anybody else may do between turns: one message in the place of several. */
function compact(session, from, to) {
  const { nodes } = session.surface;
  const seqs = nodes.slice(nodes.indexOf(from), nodes.indexOf(to) + 1);
  return session.append(
    'user/message',
    createUserMessage({
      content: [{ type: 'text', text: 'a summary' }],
      source: { kind: 'plugin', plugin: 'somebody-else' },
    }),
    { surfaceOp: { op: 'replace', start: from, end: to }, sourceEventSeqs: seqs },
  );
}

test('a foreign compaction over a fold is followed down to the originals', async (t) => {
  const loop = await loopOf(t, { steps: [...EXPLORATION] });
  const agent = await loop.agent();
  await agent.prompt('which port?');
  const report = reportOf(agent);
  const { nodes } = agent.session.surface;
  const summary = compact(agent.session, nodes[0], nodes.at(-1));
  const all = await ask(loop, agent, { seq: summary.seq, limit: 8_000 });
  assert.match(all.text, /^s\d+ user \(11 chars\)\nwhich port\?/);
  assert.ok(all.text.includes('let port = 7777') && !all.text.includes('The port is 7777, set in'));
  const under = await ask(loop, agent, { seq: report.seq });
  assert.ok(under.text.startsWith(`s${report.data.source.start} assistant`));
});

test('a fold over a fold', async (t) => {
  const loop = await loopOf(t, { steps: [...EXPLORATION] });
  const agent = await loop.agent();
  await agent.prompt('which port?');
  const first = reportOf(agent);
  const mark = { id: 'outer', logLength: 1, foldedAt: null };
  loop.ctx.checkpoint.latestMark = async () => mark;
  loop.ctx.checkpoint.completeFold = async () => {
    mark.foldedAt = 1;
  };
  await loop.ctx.rewind.rewind(agent.agent, new AbortController().signal);
  const second = reportOf(agent);
  assert.ok(second.sourceEventSeqs.includes(first.seq));
  const all = await ask(loop, agent, { seq: second.seq });
  assert.ok(all.text.includes('let port = 7777') && all.text.includes('It is 7777.'));
  assert.ok(!all.text.includes('The port is 7777, set in'));
});

test('its own results fold like any other and are not found twice', async (t) => {
  const loop = await loopOf(t, { steps: [...EXPLORATION] });
  const agent = await loop.agent();
  await agent.prompt('which port?');
  const { seq } = reportOf(agent);
  loop.script.push(
    'main',
    act([call('cp2', 'checkpoint')]),
    act([call('again', 'recall', { seq })]),
    act([call('rw2', 'rewind')]),
    say('ok'),
  );
  await agent.prompt('again');
  assert.notEqual(reportOf(agent).seq, seq);
  assert.ok((await ask(loop, agent, { seq: reportOf(agent).seq })).text.includes('let port = 7777'));
  const { text } = await ask(loop, agent, { pattern: 'let port' });
  assert.equal(text.split('let port').length - 1, 1);
});

test('a lone surrogate reads as one replacement character and lengths stay', async (t) => {
  const loop = await loopOf(t, {
    tools: [bashTool({ '*': `a\ud83dz${'x'.repeat(2_000)}` })],
    steps: [
      act([call('cp', 'checkpoint')]),
      act([call('b1', 'bash', { command: 'x' })]),
      act([call('rw', 'rewind')]),
      say('ok'),
    ],
  });
  const agent = await loop.agent();
  await agent.prompt('go');
  const { seq } = resultFor(agent, 'b1');
  assert.ok((await ask(loop, agent, { seq })).text.startsWith(`s${seq} bash {"command":"x"} (2003 chars)\na\ufffdzxx`));
});

test('its texts cost few tokens in every request', async (t) => {
  const loop = await loopOf(t, { steps: [] });
  const schema = loop.ctx.tools.schemas().find(({ name }) => name === 'recall');
  const tokens = Math.ceil(JSON.stringify(schema).length / 4);
  assert.equal(tokens, 138, 'the README states this number');
});

test('a row with a typo or a value out of range fails, and the tool goes with its plugin', async (t) => {
  assert.throws(() => recall.Config({ maxRecallChar: 9_000 }), /recall config: maxRecallChar is not a setting; did you mean maxRecallChars\?/);
  assert.throws(() => recall.Config({ maxRecallChars: 10 }), /maxRecallChars/);
  assert.deepEqual(recall.Config({}), { maxRecallChars: 8_000 });
  const loop = await createLoop({});
  t.after(() => loop.dispose());
  const fiber = await loop.mount(recall, {});
  assert.ok(loop.ctx.tools.get('recall'));
  await fiber.dispose();
  assert.equal(loop.ctx.tools.get('recall'), undefined);
});
