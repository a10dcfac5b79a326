/**
 * `npm run experience`: what a fold costs and saves in tokens, in the real CLI. The same exploration is played twice,
 * once folded and once left where it is, and both go on with the same work. The provider is scripted; the requests are
 * the harness's own, counted as sent, four characters to a token, and a request hits the cache as far as it repeats an
 * earlier one. Fails where a fold does not repay itself within the work that follows.
 */
import { createCli } from '../__test__/support/cli.js';
import { act, call, say } from '../__test__/support/script.js';

const CHARS_PER_TOKEN = 4;
/** Steps after the exploration, each one read of a small file. */
const WORK = 20;
const LINES = 200;
const REPORT = [
  '## Findings',
  '- The timeout is set in `src/part-0.txt` and read by every other part.',
  '## Dead ends',
  '- The other parts only pass it on.',
  '## Open',
  '- Raise it to 60 s where it is set.',
].join('\n');

const tokens = (chars) => Math.round(chars / CHARS_PER_TOKEN);
const number = (value) => value.toLocaleString('en-US');
const print = (line = '') => process.stdout.write(`${line}\n`);
const row = (cells) => print(`| ${cells.join(' | ')} |`);

function filesOf(reads) {
  const part = (at) => Array.from({ length: LINES }, (_, line) => `part ${at}, line ${line}: timeout passed on as it is`);
  return Object.fromEntries([
    ...Array.from({ length: reads }, (_, at) => [`src/part-${at}.txt`, `${part(at).join('\n')}\n`]),
    ...Array.from({ length: WORK }, (_, at) => [`work/${at}.txt`, `${'a line to work on\n'.repeat(10)}`]),
  ]);
}

function stepsOf(reads, folded) {
  return {
    main: [
      ...(folded ? [act(call('mark', 'checkpoint', { objective: 'find where the timeout is set' }))] : []),
      ...Array.from({ length: reads }, (_, at) => act(call(`r${at}`, 'read', { file_path: `src/part-${at}.txt` }))),
      ...(folded ? [act(call('fold', 'rewind'))] : []),
      ...Array.from({ length: WORK }, (_, at) => act(call(`w${at}`, 'read', { file_path: `work/${at}.txt` }))),
      say('Done.'),
    ],
    report: [say(REPORT)],
  };
}

/** Plays one arm; gives its `requests` in order, `report` of the fold, and how many `before` the work. */
async function play(reads, folded) {
  const cli = await createCli({ files: filesOf(reads), steps: stepsOf(reads, folded) });
  try {
    const { code, stderr } = await cli.run('Find where the timeout is set, then do the work.');
    if (code !== 0 || cli.provider.rejected.length > 0) throw new Error(`the session failed (${code}): ${stderr}`);
    const requests = cli.provider.requests.filter(({ lane }) => lane !== 'title');
    return { requests, report: cli.provider.of('report')[0], before: requests.length - WORK - 1 };
  } finally {
    await cli.close();
  }
}

const sum = (requests, measure) => requests.reduce((total, request) => total + measure(request), 0);
const sent = ({ promptChars }) => promptChars;
const uncached = ({ promptChars, cachedChars }) => promptChars - cachedChars;

/** After how many requests of the work the session with the fold has sent less in all; undefined for never. */
function repaid(folded, left) {
  const upTo = ({ requests, before }, count) => sum(requests.slice(0, before + count), sent);
  for (let count = 1; count <= WORK + 1; count += 1) if (upTo(folded, count) < upTo(left, count)) return count;
  return undefined;
}

row(['exploration', 'next request: left, folded', 'of it cached', 'the report\'s request (cached)',
  'whole session: left, folded', 'of it not cached: left, folded', 'repaid after']);
row(Array.from({ length: 7 }, () => '---'));
for (const reads of [4, 12, 40]) {
  const folded = await play(reads, true);
  const left = await play(reads, false);
  const pair = (measure) => [left, folded].map((arm) => number(tokens(measure(arm)))).join(', ');
  const next = ({ requests, before }) => requests[before];
  const cached = (request) => `${Math.floor((100 * request.cachedChars) / request.promptChars)}%`;
  const after = repaid(folded, left);
  row([
    `${reads} reads`,
    pair((arm) => sent(next(arm))),
    [left, folded].map((arm) => cached(next(arm))).join(', '),
    `${number(tokens(sent(folded.report)))} (${cached(folded.report)})`,
    pair(({ requests }) => sum(requests, sent)),
    pair(({ requests }) => sum(requests, uncached)),
    after === undefined ? 'never' : `${after} requests`,
  ]);
  if (after === undefined) process.exitCode = 1;
}
