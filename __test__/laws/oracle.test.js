/**
 * The laws, the oracle and the generator tried on one another, without the package: the slow reference must
 * satisfy every law on generated sessions, and each law must notice when the reference breaks it.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createLoop } from '../support/loop.js';
import { makeRecipe } from './generator.js';
import { isPersons, oracle } from './oracle.js';
import { caseSeed } from './random.js';
import { SlowFold, slowDriver } from './slow.js';
import { Stage } from './stage.js';
import { playRecipe } from './trial.js';
import { wireFaults } from './wire.js';

let loop;
let world;
let made = 0;
const id = () => `oracle-${(made += 1)}`;

before(async () => {
  loop = await createLoop({ invariants: false });
  world = { ctx: loop.ctx, meter: loop.ctx.get('tokenMeter') };
});

after(() => loop.dispose());

test('the slow reference satisfies every law', async () => {
  const driver = slowDriver(new SlowFold({ meter: world.meter }));
  const tally = {};
  for (let index = 0; index < 300; index += 1) {
    const seed = caseSeed(11, index);
    const { breaches, tally: met } = await playRecipe(world, driver, makeRecipe(seed), id());
    assert.deepEqual(breaches, [], `seed ${seed}`);
    for (const [outcome, count] of Object.entries(met)) tally[outcome] = (tally[outcome] ?? 0) + count;
  }
  for (const kind of [
    'OK',
    'EMPTY_REGION',
    'UNBALANCED',
    'CHANGED',
    'SHRINK',
    'SUMMARY_FAILED',
    'in segments',
    'with siblings',
    'in a sibling',
    'with quotes',
  ]) {
    assert.ok(tally[kind] > 0, `the generator never makes: ${kind} (${JSON.stringify(tally)})`);
  }
});

test('a recipe is a function of its seed', () => {
  assert.deepEqual(makeRecipe(77), makeRecipe(77));
  assert.notDeepEqual(makeRecipe(77), makeRecipe(78));
});

const withoutLast = (plan) => {
  const [end] = plan.segments.slice(-1);
  if (plan.code || end === undefined || end.length < 2) return plan;
  const segments = [...plan.segments.slice(0, -1), end.slice(0, -1)];
  return { ...plan, segments };
};

/** Breaks one thing at a time; the laws must say so on at least one of the sessions. */
const SABOTAGE = {
  'splits a pair at the end of the region': [
    /adds|planned/,
    (name, plan) => (name === 'plan' ? withoutLast(plan) : plan),
  ],
  "folds a person's message": [
    /person's message|planned/,
    (name, plan, session) => {
      if (name !== 'plan' || plan.code || plan.segments.length < 2) return plan;
      const { nodes } = session.surface;
      const run = nodes.slice(
        nodes.indexOf(plan.segments[0][0]),
        nodes.indexOf(plan.segments.at(-1).at(-1)) + 1,
      );
      return { ...plan, segments: [run] };
    },
  ],
  'leaves out the quotes': [
    /does not quote|does not name/,
    (name, value) => (name === 'report' ? 'A report.' : value),
  ],
  miscounts: [
    /result\.foldedNodes/,
    (name, value) => (name === 'result' ? { ...value, foldedNodes: value.foldedNodes + 1 } : value),
  ],
  'lands siblings first': [
    /planned/,
    (name, value) => (name === 'edits' && value.length > 1 ? value.toReversed() : value),
  ],
  'drops a sibling': [
    /planned/,
    (name, value) =>
      name === 'plan' && value.siblings?.length > 1 ? { ...value, siblings: value.siblings.slice(1) } : value,
  ],
};

for (const [name, [says, sabotage]] of Object.entries(SABOTAGE)) {
  test(`the laws notice a fold that ${name}`, async () => {
    const driver = slowDriver(new SlowFold({ meter: world.meter, sabotage }));
    const seen = [];
    for (let index = 0; index < 250 && !seen.some((breach) => says.test(breach)); index += 1) {
      seen.push(...(await playRecipe(world, driver, makeRecipe(caseSeed(23, index)), id())).breaches);
    }
    assert.ok(
      seen.some((breach) => says.test(breach)),
      `no breach like ${says} among ${seen.slice(0, 5).join('\n')}`,
    );
  });
}

const call = (callId, name = 'read', args = '{}') => [callId, name, args];

/** Plays operations, with the harness's companions listening, and asks the oracle about the last mark. */
function planOf(ops) {
  const stage = new Stage(world.ctx, id());
  for (const op of ops) stage.play(op);
  const {
    events,
    surface: { nodes },
  } = stage.session;
  const plan = oracle(events, nodes, stage.marks.at(-1));
  const name = (seq) => {
    const { type, data } = events[seq];
    if (type === 'tool/result') return `R(${data.message.source.callId})`;
    if (type === 'user/message') return isPersons(events[seq]) ? 'U' : `P[${data.source.plugin}]`;
    return `A{${data.message.content
      .filter((block) => block.type === 'tool-call')
      .map((block) => block.id)
      .join(',')}}`;
  };
  stage.leave();
  if (plan.code) return plan.seq === undefined ? plan.code : `${plan.code} at ${name(plan.seq)}`;
  const runs = plan.segments.map((seqs) => seqs.map(name).join(' '));
  return { runs, siblings: plan.siblings.map(name), chars: plan.foldedChars, nodes: plan.foldedNodes };
}

const CP = ['say', { calls: [call('cp', 'checkpoint')] }];
const RW = ['say', { calls: [call('rw', 'rewind')] }];
const step = (...ids) => [
  ['say', { calls: ids.map((one) => call(one)) }],
  ...ids.map(() => ['res', 0, 'text']),
];

test('C5: the pair of the checkpoint call stays, the exploration after it folds', () => {
  assert.deepEqual(planOf([CP, ['mark', 0], ['res', 0, 'ok'], ...step('c1'), RW]), {
    runs: ['A{c1} R(c1)'],
    siblings: [],
    chars: 2 + 4,
    nodes: 2,
  });
});

test('O1, L7: a sibling of the checkpoint call is folded in place, on either side of it', () => {
  const first = ['say', { calls: [call('cp', 'checkpoint'), call('c1')] }];
  assert.deepEqual(planOf([first, ['mark', 0], ['res', 0, 'ok'], ['res', 0, 'found'], ...step('c2'), RW]), {
    runs: ['A{c2} R(c2)'],
    siblings: ['R(c1)'],
    chars: 5 + 2 + 4,
    nodes: 3,
  });
  const second = ['say', { calls: [call('c1'), call('cp', 'checkpoint')] }];
  assert.equal(planOf([second, ['res', 0, 'found'], ['mark', 0], ['res', 0, 'ok'], RW]), 'EMPTY_REGION');
  assert.deepEqual(planOf([second, ['mark', 1], ['res', 0, 'found'], ['res', 0, 'ok'], RW]), {
    runs: [],
    siblings: ['R(c1)'],
    chars: 5,
    nodes: 1,
  });
});

test('P2: a call that never got its answer ends the region before its carrier', () => {
  assert.deepEqual(
    planOf([
      CP,
      ['mark', 0],
      ['res', 0, 'ok'],
      ...step('c1'),
      ['say', { calls: [call('c2', 'bash')] }],
      ['user', 'go on'],
      RW,
    ]),
    { runs: ['A{c1} R(c1)'], siblings: [], chars: 2 + 4, nodes: 2 },
  );
  assert.equal(
    planOf([
      CP,
      ['mark', 0],
      ['res', 0, 'ok'],
      ['say', { calls: [call('c2', 'bash')] }],
      ['user', 'go on'],
      RW,
    ]),
    'UNBALANCED at A{c2}',
  );
});

test('C3: nothing between the mark and the rewind call', () => {
  assert.equal(planOf([CP, ['mark', 0], ['res', 0, 'ok'], RW]), 'EMPTY_REGION');
});

test('L3, T2: a steering message splits the region, inside a pair it is folded and quoted', () => {
  assert.deepEqual(planOf([['mark', null], ...step('c1'), ['user', 'only in staging'], ...step('c2'), RW]), {
    runs: ['A{c1} R(c1)', 'A{c2} R(c2)'],
    siblings: [],
    chars: 2 * (2 + 4),
    nodes: 4,
  });
  assert.deepEqual(
    planOf([
      ['mark', null],
      ['say', { calls: [call('a'), call('b')] }],
      ['res', 0, 'x'],
      ['user', 'stop'],
      ['res', 0, 'y'],
      RW,
    ]),
    { runs: ['A{a,b} R(a) U R(b)'], siblings: [], chars: 4 + 1 + 4 + 1, nodes: 4 },
  );
});

test('D1, D4: an id used again is another call, twice in one message two calls', () => {
  assert.deepEqual(planOf([['mark', null], ...step('call_0'), ...step('call_0'), RW]).runs, [
    'A{call_0} R(call_0) A{call_0} R(call_0)',
  ]);
  assert.deepEqual(planOf([['mark', null], ...step('z', 'z'), RW]).runs, ['A{z,z} R(z) R(z)']);
  assert.equal(
    planOf([['mark', null], ['say', { calls: [call('z'), call('z')] }], ['res', 0, 'one'], RW]),
    'UNBALANCED at A{z,z}',
  );
});

test('1.1: what is older than the mark by origin stays, whatever its seq', () => {
  const old = [['user', 'task'], ...step('old')];
  assert.deepEqual(planOf([...old, ['mark', null], ...step('c1'), ['prune', 0, 'cut'], RW]).runs, [
    'A{c1} R(c1)',
  ]);
  assert.deepEqual(
    planOf([...old, ['mark', null], ...step('c1'), ['compact', 0, 1, 'summary'], ...step('c2'), RW]).runs,
    ['A{c2} R(c2)'],
  );
});

test('O4: an idle fold takes the last answer too', () => {
  assert.deepEqual(planOf([['mark', null], ...step('c1'), ['say', { t: 'done' }], ['end']]).runs, [
    'A{c1} R(c1) A{}',
  ]);
});

test('1.3: siblings are left as they are outside a turn', () => {
  const ops = [
    ['say', { calls: [call('cp', 'checkpoint'), call('c1')] }],
    ['mark', 0],
    ['res', 0, 'ok'],
    ['res', 0, 'found'],
  ];
  assert.equal(planOf([...ops, ['end']]), 'EMPTY_REGION');
  assert.deepEqual(planOf([...ops, ...step('c2'), ['end']]), {
    runs: ['A{c2} R(c2)'],
    siblings: [],
    chars: 6,
    nodes: 2,
  });
});

test('wire faults: each kind is seen where it is', () => {
  const words = (role, ...content) => ({ role, content, source: {} });
  const said = (text) => words('user', { type: 'text', text });
  const calls = (...ids) =>
    words('assistant', ...ids.map((one) => ({ type: 'tool-call', id: one, name: 'x', arguments: '' })));
  const result = (callId) => words('user', { type: 'tool-result', toolCallId: callId, content: [] });
  assert.deepEqual(wireFaults([said('hi'), calls('a', 'b'), result('b'), result('a'), said('x')]), []);
  assert.deepEqual(wireFaults([calls('a'), said('x'), result('a')]), [
    { kind: 'unanswered', at: 0, call: 0 },
    { kind: 'orphan', at: 2 },
  ]);
  assert.deepEqual(wireFaults([calls('a', 'a'), result('a'), result('a'), result('a')]), [
    { kind: 'orphan', at: 3 },
  ]);
  assert.deepEqual(wireFaults([calls('a')]), []);
  assert.deepEqual(wireFaults([calls('a')], { closed: true }), [{ kind: 'unanswered', at: 0, call: 0 }]);
  assert.deepEqual(wireFaults([said('')]), [{ kind: 'empty', at: 0 }]);
});
