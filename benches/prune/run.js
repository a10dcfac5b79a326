/**
 * `npm run bench:prune`: what judged pruning frees and what it costs, beside the stock pruner, on recorded
 * sessions (where they are) and on the stories of this folder; and the time of a pass. Missed targets end it
 * with 1.
 *
 * `--only stories|recorded|speed`, `--json`, `--print NAME` shows one story as a person reads it.
 */
import { parseArgs } from 'node:util';
import { sessions } from '../../__test__/support/data.js';
import { markdown, ms, times } from '../table.js';
import { WINDOWS, matched } from './match.js';
import { DEFAULTS, NOTHING, RECEIPTS, replay } from './replay.js';
import { visibleText } from './scorer.js';
import * as speed from './speed.js';
import { stories } from './stories/index.js';

const SETS = { stories, recorded: () => sessions('trajectories') };
const LARGE = 8_192;

/** One session: matched at each window, and as the plugin comes. */
async function measure({ name, rows }) {
  const events = rows();
  const pairs = [];
  for (const share of WINDOWS) pairs.push(await matched(events, share));
  const bare = await replay(events, NOTHING, Number.MAX_SAFE_INTEGER);
  const window = Math.round(bare.tokens * WINDOWS[1]);
  const asItComes = async (policy) => {
    const outcome = await replay(events, policy, window);
    return { ...outcome, freed: bare.tokens - outcome.tokens, freedChars: bare.chars - outcome.chars };
  };
  const defaults = await asItComes(DEFAULTS);
  const receipts = await asItComes(RECEIPTS);
  const own = new Set(bare.faults);
  return {
    name,
    large: events.filter(
      ({ type, data }) => type === 'tool/result' && visibleText({ type, data }).length > LARGE,
    ).length,
    tokens: bare.tokens,
    pairs,
    defaults,
    receipts,
    added: [defaults, receipts, ...pairs.map(({ rules }) => rules)].flatMap(({ faults }) =>
      faults.filter((one) => !own.has(one)),
    ),
  };
}

const sum = (list, value) => list.reduce((total, one) => total + value(one), 0);
const needed = (row, side) => sum(row.pairs, (pair) => pair[side].needed);
const freed = (row, side) => sum(row.pairs, (pair) => pair[side].freed);

function tables(set, rows) {
  const total = { name: `all ${rows.length}`, pairs: rows.flatMap(({ pairs }) => pairs) };
  const line = (row) => [
    row.name,
    freed(row, 'stock'),
    freed(row, 'rules'),
    needed(row, 'stock'),
    needed(row, 'rules'),
    `${row.pairs.filter(({ matched: is }) => is).length} of ${row.pairs.length}`,
  ];
  return [
    `### ${set}: the choice of \`rules\` against the stock pruner, at matched freed tokens`,
    '',
    ...markdown(
      [
        'session',
        'tokens freed, stock',
        'tokens freed, rules',
        'needed and dropped, stock',
        'needed and dropped, rules',
        'windows matched',
      ],
      [...rows.map(line), line(total)],
    ),
    '',
    `### ${set}: as the plugin comes, in a window of ${WINDOWS[1]} of the session`,
    '',
    ...markdown(
      [
        'session',
        'results over 8 KB',
        'tokens',
        'freed: tokens',
        'characters',
        'bodies cut',
        'receipts',
        'needed and dropped',
        'receipts alone: receipts',
        'tokens freed',
        'needed and dropped',
        'evidence lines lost',
        'wire faults added',
      ],
      rows.map(({ name, large, tokens, defaults, receipts, added }) => [
        name,
        large,
        tokens,
        defaults.freed,
        defaults.freedChars,
        defaults.cut,
        defaults.receipts,
        defaults.needed,
        receipts.receipts,
        receipts.freed,
        receipts.needed,
        defaults.evidenceLost + receipts.evidenceLost,
        added.length,
      ]),
    ),
    '',
  ];
}

function missed(set, rows) {
  const found = [];
  // A pass that frees nothing drops nothing either: its zeros are no result.
  if (sum(rows, (row) => freed(row, 'rules')) === 0) found.push(`${set}: nothing was freed`);
  for (const row of rows) {
    if (needed(row, 'rules') > needed(row, 'stock')) found.push(`${row.name}: worse than the stock pruner`);
    if (row.defaults.evidenceLost + row.receipts.evidenceLost > 0)
      found.push(`${row.name}: evidence was lost by receipts`);
    if (row.added.length > 0) found.push(`${row.name}: wire faults were added: ${row.added.join('; ')}`);
  }
  if (set === 'stories') {
    const [stock, rules] = ['stock', 'rules'].map((side) => sum(rows, (row) => needed(row, side)));
    if (rules > stock / 2)
      found.push(`pooled stories: ${rules} wrong drops, more than half of the stock pruner's ${stock}`);
    if (sum(rows, ({ large }) => large) < 300)
      found.push('the stories have fewer than 300 results over 8 KB');
    const apart = rows.flatMap(({ name, pairs }) => pairs.filter(({ matched: is }) => !is).map(() => name));
    if (apart.length > 0) found.push(`not matched within 5%: ${apart.join(', ')}`);
  }
  return found;
}

function print(name) {
  const story = stories().find((one) => one.name.toLowerCase().includes(name.toLowerCase()));
  if (story === undefined)
    throw new Error(
      `no story "${name}"; there are: ${stories()
        .map((one) => one.name)
        .join(', ')}`,
    );
  for (const { type, data } of story.rows()) {
    if (type === 'user/message') console.log(`\n== Person\n${data.content[0].text}`);
    if (type === 'tool/result') console.log(`-- ${visibleText({ type, data })}`);
    if (type !== 'assistant/message') continue;
    const [{ text }, ...calls] = data.message.content;
    console.log(`\n== Agent\n${text}`);
    for (const { name: tool, arguments: args } of calls) console.log(`-> ${tool} ${args}`);
  }
}

const { values } = parseArgs({
  options: { only: { type: 'string' }, json: { type: 'boolean' }, print: { type: 'string' } },
});
if (values.print !== undefined) {
  print(values.print);
} else {
  const report = {};
  const faults = [];
  const lines = [];
  for (const [set, load] of Object.entries(SETS)) {
    if (values.only !== undefined && values.only !== set) continue;
    const found = load();
    if (found.length === 0) {
      lines.push(`### ${set}: no sessions here; set TOOL_REWIND_DATA to their folder`, '');
      continue;
    }
    report[set] = [];
    for (const session of found) report[set].push(await measure(session));
    lines.push(...tables(set, report[set]));
    faults.push(...missed(set, report[set]));
  }
  if (values.only === undefined || values.only === 'speed') {
    report.speed = speed.measure();
    lines.push(
      '### A whole pass over 10,000 results',
      '',
      ...markdown(
        ['results', 'with the core, ms', 'plain JavaScript, ms', 'ratio'],
        report.speed.map(({ results, coreMs, plainMs }) => [
          results,
          ms(coreMs),
          ms(plainMs),
          times(plainMs / coreMs),
        ]),
      ),
      '',
    );
    for (const { coreMs, plainMs } of report.speed)
      if (coreMs > plainMs) faults.push('a pass is slower than plain JavaScript');
  }
  console.log(values.json ? JSON.stringify({ report, missed: faults }, null, 2) : lines.join('\n'));
  for (const what of faults) console.error(`target missed: ${what}`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
