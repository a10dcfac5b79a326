/** The row of the prune plugin: every default, every range, every contradiction. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { prune } from './stage.js';

const { Config } = prune;

test('the defaults are those of the documentation', () => {
  assert.deepEqual(Config(), {
    enabled: true,
    judge: 'auto',
    apiKey: '',
    model: 'jev-latest',
    baseUrl: 'https://api.typesafe.ai',
    judgeOn: 'pressure',
    judgeTimeoutMs: 60_000,
    judgeDeadlineMs: 8_000,
    judgeMaxRetries: 2,
    judgeRetryBaseMs: 300,
    subagents: false,
    minStepsBetweenPasses: 1,
    dryRun: false,
    softLimit: '55%',
    keepMode: 'budget',
    keepThreshold: 0.5,
    keepFloorThreshold: 0.2,
    minCandidatesForBudget: 4,
    alwaysTrimRatio: 0.5,
    minGainChars: 40,
    preserveRecent: 4,
    headChars: 600,
    tailChars: 200,
    minCharsToPrune: 400,
    neverPruneTools: ['Write', 'NotebookEdit'],
    maxStateTokens: 25_000,
    maxRequestTokens: 30_000,
    textHead: 400,
    textTail: 150,
    inputChars: 300,
    resultExcerptChars: 240,
    minHistoryLines: 8,
    compactReceipts: true,
    compactOn: 'pressure',
    compactSoftLimit: '70%',
    compactMode: 'relative',
    compactQuantile: 0.34,
    compactPreserveRecent: 1,
    minCandidatesForRelative: 4,
    minCandidatesForFloor: 2,
    floorThreshold: 0.2,
    compactThreshold: 0.5,
    compactTools: [
      'read',
      'view',
      'cat',
      'glob',
      'grep',
      'list',
      'ls',
      'search',
      'find',
      'tree',
      'stat',
      'fetch',
      'web_search',
      'web_fetch',
      'get-content',
      'get-childitem',
      'get-item',
      'get-itemproperty',
      'get-location',
      'get-command',
      'get-help',
      'select-string',
      'test-path',
      'resolve-path',
      'measure-object',
    ],
    neverCompactTools: [
      'write',
      'edit',
      'multi_edit',
      'str_replace_editor',
      'str_replace',
      'create',
      'insert',
      'append',
      'apply_patch',
      'patch',
      'notebook_edit',
      'delete',
      'remove',
      'rename',
      'move',
      'copy',
      'mkdir',
    ],
    evidenceGuard: true,
    evidencePatterns: [
      'error',
      'exception',
      'traceback',
      'stack trace',
      'assert',
      'fail',
      'panic',
      'unexpected',
      'mismatch',
      'todo',
      'fixme',
      'bug',
      '错误',
      '失败',
      '异常',
      '断言',
      '超时',
    ],
    maxStepTextChars: 1200,
    maxStepReasoningChars: 4000,
    compactMinChars: 2000,
    receiptMaxRatio: 0.5,
    maxCompactionsPerPass: 3,
    receiptArgChars: 120,
    receiptTextChars: 400,
    receiptTransport: 'direct',
    receiptLanguage: 'en',
    heartbeatFile: '',
    logLevel: 'info',
  });
});

const SHARES = [
  'keepThreshold',
  'keepFloorThreshold',
  'alwaysTrimRatio',
  'compactQuantile',
  'floorThreshold',
  'compactThreshold',
  'receiptMaxRatio',
];
const COUNTS = [
  'preserveRecent',
  'compactPreserveRecent',
  'minCandidatesForBudget',
  'minCandidatesForFloor',
  'minHistoryLines',
  'maxCompactionsPerPass',
  'minStepsBetweenPasses',
  'judgeTimeoutMs',
  'judgeDeadlineMs',
  'maxStateTokens',
  'maxRequestTokens',
];
const LENGTHS = [
  'minGainChars',
  'headChars',
  'tailChars',
  'minCharsToPrune',
  'textHead',
  'textTail',
  'inputChars',
  'resultExcerptChars',
  'maxStepTextChars',
  'maxStepReasoningChars',
  'compactMinChars',
  'receiptArgChars',
  'receiptTextChars',
];

for (const [keys, values] of [
  [SHARES, [-0.1, 1.1, 5, NaN, Infinity, '0.5']],
  [COUNTS, [0, -5, 1.5, NaN, '4']],
  [LENGTHS, [-1, 1.5, NaN, '4']],
  [['minCandidatesForRelative'], [1, 0, NaN]],
  [['judgeMaxRetries'], [-1, 11, 1.5]],
  [['judgeRetryBaseMs'], [-1, 1.5, NaN, 2 ** 31]],
  [
    ['judgeTimeoutMs', 'judgeDeadlineMs'],
    [2 ** 31, Infinity],
  ],
  [['logLevel'], ['loud', 3]],
  [['apiKey', 'heartbeatFile'], [3, false]],
  [
    ['judgeOn', 'compactOn'],
    ['sometimes', true],
  ],
  [['keepMode'], ['relative']],
  [['compactMode'], ['budget']],
  [['receiptTransport'], ['pigeon']],
  [['receiptLanguage'], ['fr']],
  [
    ['enabled', 'dryRun', 'compactReceipts', 'evidenceGuard', 'subagents'],
    ['yes', 1],
  ],
  [
    ['neverPruneTools', 'compactTools', 'neverCompactTools', 'evidencePatterns'],
    ['read', [3]],
  ],
  [
    ['softLimit', 'compactSoftLimit'],
    ['0%', '101%', 'abc', '-3', '', 0, -3, 3000.5, NaN, Infinity],
  ],
  [['baseUrl'], ['nowhere', 'ftp://host', 'https://host/path', 'https://host?x=1', 'https://u:p@host']],
  [
    ['judge', 'judgeProvider', 'judgeModel', 'model'],
    ['', '  '],
  ],
]) {
  for (const key of keys) {
    test(`${key} refuses ${values.map((value) => JSON.stringify(value) ?? String(value)).join(', ')}`, () => {
      for (const value of values) {
        const row = { ...(/^judge[PM]/.test(key) && { judgeProvider: 'p', judgeModel: 'm' }), [key]: value };
        assert.throws(() => Config(row), new RegExp(`prune config: ${key}\\b`), `${key}: ${value}`);
      }
    });
  }
}

test('values at the edges are taken', () => {
  for (const row of [
    { compactQuantile: 0 },
    { alwaysTrimRatio: 0 },
    { receiptMaxRatio: 1 },
    { softLimit: 3000 },
    { softLimit: '100%' },
    { softLimit: '3000' },
    { headChars: 0, tailChars: 0 },
    { compactTools: [] },
    { evidencePatterns: [] },
    { baseUrl: 'http://127.0.0.1:9/' },
    { judgeMaxRetries: 0 },
    { judge: 'Mine' },
    { heartbeatFile: 'a/../b/beat.json' },
    { heartbeatFile: '..beat' },
    { heartbeatFile: '/var/beat.json' },
    { heartbeatFile: '~/beat.json' },
    { minCandidatesForRelative: 2 },
  ]) {
    assert.deepEqual(Config(row), { ...Config(), ...row });
  }
});

for (const [row, message] of [
  [{ judge: 'llm', keepMode: 'absolute' }, /keepMode must not be absolute with the judge llm/],
  [{ judge: 'llm', compactMode: 'absolute' }, /compactMode must not be absolute with the judge llm/],
  [{ judge: 'LLM' }, /judge is "LLM", but the judge is called llm: there are auto, rules, jev, llm, and the ids/],
  [{ judge: ' llm ' }, /judge is " llm ", but the judge is called llm/],
  [{ judge: 'Auto' }, /judge is "Auto", but the judge is called auto/],
  [{ judge: ' mine' }, /judge is " mine": an id has no space around it/],
  [{ heartbeatFile: '../..' }, /heartbeatFile is "\.\.\/\.\.", which is no place below \$DSH_HOME: give a relative/],
  [{ heartbeatFile: 'a/../../b' }, /heartbeatFile is "a\/\.\.\/\.\.\/b"/],
  [{ heartbeatFile: '.' }, /heartbeatFile is "\."/],
  [{ heartbeatFile: ' ' }, /heartbeatFile is " "/],
  [{ judgeProvider: 'p' }, /judgeModel is missing/],
  [{ judgeModel: 'm' }, /judgeProvider is missing/],
  [{ keepFloorThreshold: 0.6 }, /keepFloorThreshold \(0\.6\) must be at most keepThreshold \(0\.5\)/],
  [
    { minCandidatesForFloor: 5 },
    /minCandidatesForFloor \(5\) must be at most minCandidatesForRelative \(4\)/,
  ],
  [{ maxStateTokens: 30_000 }, /maxStateTokens \(30000\) must be less than maxRequestTokens \(30000\)/],
  [{ evidencePatterns: ['error', ' '] }, /evidencePatterns\[1\] is " "/],
  [{ headChrs: 1 }, /headChrs is not a setting; did you mean headChars\?/],
  [{ volumeBudgetThresholdChars: 1 }, /volumeBudgetThresholdChars: .*thresholdChars/],
  [{ budgetMinChars: 1 }, /budgetMinChars: use minCharsToPrune/],
]) {
  test(`${JSON.stringify(row)} fails the load`, () => {
    assert.throws(() => Config(row), message);
  });
}

test('absolute is taken with auto and rules', () => {
  for (const judge of ['auto', 'rules']) Config({ judge, keepMode: 'absolute', compactMode: 'absolute' });
});
