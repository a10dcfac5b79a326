/** Settings of the prune plugin (docs/prune.md 3.3). Every range and contradiction is refused at load. */
import z from '@deepseek-ai/schemastery';
import { strict } from '../host/config.js';
import { pathFault } from '../host/home.js';
import { native } from '../native.js';
import { RESERVED } from './judges/service.js';

const DEFAULTS = native.pruneDefaults();

/** A probability or a ratio. */
const share = (value) => z.number().min(0).max(1).default(value);
/** How many of something; at least one. */
const count = (value, least = 1) => z.natural().min(least).default(value);
/** A wait in milliseconds; a timer takes no longer one. */
const wait = (value, least) => z.natural().min(least).max(2_147_483_647).default(value);
/** A length in code points, or tokens. */
const length = (value) => z.natural().default(value);
const names = (value) => z.array(z.string()).default(value);
const limit = (value) => z.union([z.string(), z.number()]).default(value);
const when = () => z.union(['pressure', 'always', 'off']).default('pressure');

const schema = z.object({
  enabled: z.boolean().default(true).description('Whether the plugin does anything at all.'),
  judge: z
    .string()
    .default('auto')
    .description('auto, rules, jev, llm, or the id of a judge that another plugin registered.'),
  judgeProvider: z
    .string()
    .description("Provider of the llm judge; the session's own route where absent. Set with judgeModel."),
  judgeModel: z
    .string()
    .description("Model of the llm judge; the session's own route where absent. Set with judgeProvider."),
  apiKey: z
    .string()
    .role('secret')
    .default('')
    .description(
      'Key of the jev judge; where empty, the credential or environment variable TYPESAFE_API_KEY.',
    ),
  model: z.string().default('jev-latest').description('Model of the jev judge.'),
  baseUrl: z
    .string()
    .default('https://api.typesafe.ai')
    .description('Origin of the jev judge; /v1/systemone is appended.'),
  judgeOn: when().description('When results are judged: under pressure, always, or never.'),
  judgeTimeoutMs: wait(60_000, 1).description('Bound on one attempt, in milliseconds.'),
  judgeDeadlineMs: wait(8_000, 1).description(
    'Bound on a whole pass, retries and waits included, in milliseconds.',
  ),
  judgeMaxRetries: z
    .natural()
    .max(10)
    .default(2)
    .description('Further attempts after a failure that may pass.'),
  judgeRetryBaseMs: wait(300, 0)
    .description('Wait before the first retry, in milliseconds; doubled for each further one.'),
  subagents: z.boolean().default(false).description('Whether child sessions are judged as well.'),
  minStepsBetweenPasses: count(1).description('A pass runs at most every so many steps.'),
  dryRun: z.boolean().default(false).description('Judge and plan, but land nothing.'),

  softLimit: limit('55%').description(
    'Pressure from which results are cut: a share of the window, or tokens.',
  ),
  keepMode: z
    .union(['budget', 'absolute'])
    .default('budget')
    .description('Cut the least needed first as pressure asks, or everything under keepThreshold.'),
  keepThreshold: share(0.5).description(
    'From this probability on a result is needed and never cut by its verdict.',
  ),
  keepFloorThreshold: share(0.2).description(
    'In budget mode with few candidates, results under this are cut.',
  ),
  minCandidatesForBudget: count(4).description(
    'Fewer candidates than this are decided by keepFloorThreshold.',
  ),
  alwaysTrimRatio: share(0.5).description(
    'With judgeOn always: the share of possible savings that is freed.',
  ),
  minGainChars: length(40).description('A cut must free at least so many characters.'),
  preserveRecent: count(4).description('The newest so many nodes of the surface are never cut.'),
  headChars: length(600).description('Characters kept from the start of a cut result.'),
  tailChars: length(200).description('Characters kept from its end.'),
  minCharsToPrune: length(400).description('Shorter results are never cut by a verdict.'),
  neverPruneTools: names(['Write', 'NotebookEdit']).description('Tools whose results are never cut.'),

  maxStateTokens: count(25_000).description('Tokens of what a judge is told.'),
  maxRequestTokens: count(30_000).description('Tokens of one request to a judge.'),
  textHead: length(400).description("Characters shown of a message's start."),
  textTail: length(150).description('Characters shown of its end.'),
  inputChars: length(300).description("Characters shown of a call's arguments."),
  resultExcerptChars: length(240).description('Characters shown of a result.'),
  minHistoryLines: count(8).description('The newest so many lines are always told.'),

  compactReceipts: z.boolean().default(true).description('Whether whole steps become receipts.'),
  compactOn: when().description('When receipts are made: under pressure, always, or never.'),
  compactSoftLimit: limit('70%').description('Pressure from which receipts are made.'),
  compactMode: z
    .union(['relative', 'absolute'])
    .default('relative')
    .description('Lowest share of both axes, or both axes under compactThreshold.'),
  compactQuantile: share(0.34).description(
    'The share of each axis that counts as low; 0 turns receipts off.',
  ),
  compactPreserveRecent: count(1).description('The newest so many nodes of the surface stay.'),
  minCandidatesForRelative: count(4, 2).description(
    'Fewer judged results than this are decided by floorThreshold.',
  ),
  minCandidatesForFloor: count(2).description('With fewer judged results than this nothing is moved.'),
  floorThreshold: share(0.2).description('Both axes under this value: moved, where a ranking says nothing.'),
  compactThreshold: share(0.5).description('In absolute mode: both axes under this value.'),
  compactTools: names(DEFAULTS.readOnly).description(
    'Tools whose steps may become receipts; empty leaves neverCompactTools alone to decide.',
  ),
  neverCompactTools: names(DEFAULTS.write).description('Tools whose steps never become receipts.'),
  evidenceGuard: z
    .boolean()
    .default(true)
    .description('Whether results that hold a word of evidencePatterns stay.'),
  evidencePatterns: names(DEFAULTS.evidence).description(
    'Literals, found without regard to case where a word begins.',
  ),
  maxStepTextChars: length(1200).description('A step whose visible text is longer stays.'),
  maxStepReasoningChars: length(4000).description('A step whose reasoning is longer stays.'),
  compactMinChars: length(2000).description('A receipt must free at least so many characters.'),
  receiptMaxRatio: share(0.5).description('A receipt costs at most this share of the tokens it replaces.'),
  maxCompactionsPerPass: count(3).description('At most so many receipts a pass.'),
  receiptArgChars: length(120).description("Characters shown of a call's arguments in a receipt."),
  receiptTextChars: length(400).description("Characters quoted of a step's visible text."),
  receiptTransport: z
    .union(['direct', 'region'])
    .default('direct')
    .description('Land receipts directly, or through the bracket of the compaction service.'),
  receiptLanguage: z.union(['en', 'zh']).default('en').description("Language of a receipt's own words."),

  heartbeatFile: z
    .string()
    .default('')
    .description('File that shows what the plugin saw and did; absolute, or below $DSH_HOME; empty for none.'),
  logLevel: z
    .union(['debug', 'info', 'warn', 'error'])
    .default('info')
    .description('The least severe message that is logged.'),
});

/** Keys of earlier programs of this kind, and what took their place. */
const RETIRED = {
  volumeBudgetThresholdChars:
    "results nobody judged follow the pruner's own thresholdChars; remove this key.",
  budgetMinChars: 'use minCharsToPrune.',
};

/**
 * The row's configuration. A typo, a value out of range or a contradiction fails the boot and names the key.
 */
export const Config = strict(schema, 'prune config', contradiction, RETIRED);

/** The first thing that two settings, or a setting and the core, do not agree on. */
function contradiction(config) {
  for (const key of ['softLimit', 'compactSoftLimit']) {
    const refused = attempt(() => native.prunePressure(String(config[key])));
    if (refused) return `${key}: ${refused}`;
  }
  for (const key of ['judgeProvider', 'judgeModel', 'judge', 'model']) {
    if (config[key] !== undefined && config[key].trim() === '') return `${key} must not be empty.`;
  }
  if ((config.judgeProvider === undefined) !== (config.judgeModel === undefined)) {
    const missing = config.judgeProvider === undefined ? 'judgeProvider' : 'judgeModel';
    return `${missing} is missing: set judgeProvider and judgeModel together, or neither.`;
  }
  const misspelt = judgeFault(config.judge) ?? pathFault('heartbeatFile', config.heartbeatFile);
  if (misspelt) return misspelt;
  if (config.judge === 'llm') {
    const key = ['keepMode', 'compactMode'].find((mode) => config[mode] === 'absolute');
    if (key) {
      return (
        `${key} must not be absolute with the judge llm: a model's own numbers rank, but are no ` +
        'probabilities. Use the other mode, or another judge.'
      );
    }
  }
  const ordered = [
    ['keepFloorThreshold', 'keepThreshold', false],
    ['minCandidatesForFloor', 'minCandidatesForRelative', false],
    ['maxStateTokens', 'maxRequestTokens', true],
  ];
  for (const [low, high, strictly] of ordered) {
    if (config[low] > config[high] || (strictly && config[low] === config[high])) {
      const relation = strictly ? 'less than' : 'at most';
      return `${low} (${config[low]}) must be ${relation} ${high} (${config[high]}).`;
    }
  }
  return originFault(config.baseUrl) ?? attempt(() => new native.PruneSettings(JSON.stringify(config)));
}

/** A judge's id is taken letter by letter; what only looks like one would stand for a judge that nobody has. */
function judgeFault(judge) {
  const plain = judge.trim();
  const own = RESERVED.find((id) => id === plain.toLowerCase());
  if (own !== undefined && own !== judge) {
    return (
      `judge is ${JSON.stringify(judge)}, but the judge is called ${own}: there are ${RESERVED.join(', ')}, ` +
      'and the ids of judges that other plugins register.'
    );
  }
  return plain === judge ? undefined : `judge is ${JSON.stringify(judge)}: an id has no space around it.`;
}

function originFault(baseUrl) {
  const url = URL.parse(baseUrl);
  const isOrigin = url && /^https?:$/.test(url.protocol) && [url.origin, `${url.origin}/`].includes(baseUrl);
  return isOrigin ? undefined : `baseUrl must be an http or https origin, but it is "${baseUrl}".`;
}

/** @returns what a trial throws, as text; undefined when it passes. */
function attempt(trial) {
  try {
    trial();
    return undefined;
  } catch (error) {
    return error.message;
  }
}
