/**
 * Ledger and claim check of a region of ten million characters: the core with its crossing, against the same
 * rules as regular expressions, in one run; and the memory that the core adds.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readEvidence } from '../../plugin/rewind/evidence.js';
import { readWindow } from '../../plugin/host/surface.js';
import { native } from '../../plugin/native.js';
import { checkByAlternation, checkBySearches, claimsOf, ledgerOf } from './baseline.js';
import { explorationOf } from './explorations.js';
import { inventing } from './prose.js';

const SIZE = 10_000_000;
const FASTER = 5;
const MEMORY = 3;

/** A session of synthetic explorations, one after the other, and a report that claims facts of all of them. */
function regionOf() {
  const events = [{ seq: 0, type: 'user/message', surfaceOp: 'append', data: { content: [{ type: 'text', text: 'Go.' }], source: { kind: 'user' } } }];
  const append = (type, data) => events.push({ seq: events.length, type, surfaceOp: 'append', data });
  const texts = [];
  let chars = 0;
  let made = 0;
  for (let index = 0; chars < SIZE; index += 1) {
    const { steps, prose, chance, language } = explorationOf(99, index);
    if (index % 12 === 0) texts.push(inventing(chance, prose, () => false, language).text);
    for (const { text, reasoning, calls, results } of steps) {
      const ids = calls.map(() => `c${made += 1}`);
      append('assistant/message', { message: { role: 'assistant', source: { kind: 'model' }, content: [
        ...(reasoning ? [{ type: 'reasoning', text: reasoning }] : []),
        ...(text ? [{ type: 'text', text }] : []),
        ...calls.map(({ name, args }, at) => ({ type: 'tool-call', id: ids[at], name, arguments: JSON.stringify(args) })),
      ] } });
      for (const [at, { text: output, isError }] of results.entries()) {
        chars += output.length;
        append('tool/result', { message: { role: 'user', source: { kind: 'tool', callId: ids[at] },
          content: [{ type: 'tool-result', toolCallId: ids[at], isError, content: [{ type: 'text', text: output }] }] } });
      }
    }
  }
  const session = { events, surface: { nodes: events.map(({ seq }) => seq) } };
  const planned = native.planFold(readWindow(session, 1, events), { mark: '1', logLength: 1, logLengthText: '1',
    logSize: events.length, openTurn: false, folded: false }, 'en');
  return { session, events, planned, prose: texts.join('\n'), chars };
}

function byCore({ session, events, planned, prose }) {
  const folded = planned.segments.flatMap(({ start, end }) => session.surface.nodes.slice(start, end));
  const evidence = readEvidence(session, events, folded, { sent: Uint32Array.from(folded), extra: [] }, { prose, tools: '{}', roots: [] });
  return planned.compose({ prose, quoteChars: [], ledgerShare: 0.4, ledgerCap: 6000 }, evidence);
}

/** Milliseconds of this thread: on a busy machine the clock on the wall measures the others. */
const clock = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const timed = (body) => {
  const started = clock();
  const value = body();
  return { ms: clock() - started, value };
};

const RUNS = 3;
const repeated = (body) => best(Array.from({ length: RUNS }, () => timed(body)));

const best = (runs) => runs.reduce((one, other) => (other.ms < one.ms ? other : one));

/** Peak memory that one run of the core adds over what stood before, in a process of its own. */
function measureMemory() {
  const run = spawnSync(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), '--memory'], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`the memory run failed: ${run.stderr}`);
  return JSON.parse(run.stdout);
}

const kilobytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))[1]);

function memoryRun() {
  const region = regionOf();
  const bytes = region.events.reduce((sum, { data }) => sum + Buffer.byteLength(JSON.stringify(data)), 0);
  global.gc();
  const before = kilobytes('VmRSS');
  // Resets the high-water mark, so that building the region does not count.
  writeFileSync('/proc/self/clear_refs', '5');
  byCore(region);
  return { bytes, added: (kilobytes('VmHWM') - before) * 1024 };
}

/**
 * Compares.
 *
 * @returns a promise of `{ text, faster, memory, agree }`; `memory` is undefined where the system does not tell.
 */
export async function speedTable() {
  const region = regionOf();
  const { events, prose } = region;
  const results = events.slice(1);
  const core = repeated(() => byCore(region));
  const ledger = repeated(() => ledgerOf(results));
  const searches = repeated(() => checkBySearches(results, prose));
  const alternation = timed(() => checkByAlternation(results, prose));
  const check = best([searches, alternation]);
  const faster = (ledger.ms + check.ms) / core.ms;
  const measured = process.platform === 'linux' ? measureMemory() : undefined;
  const memory = measured && measured.added / measured.bytes;
  const missing = (list) => list.filter((text) => !core.value.unverified.includes(text));
  const text = [
    `ledger and claim check of ${(region.chars / 1e6).toFixed(1)} million characters, ${events.length} events, `
      + `a report of ${prose.length} characters with ${claimsOf(prose).length} claims:`,
    `  core, JSON and crossing included   ${core.ms.toFixed(0)} ms`,
    `  regular expressions in JavaScript  ${(ledger.ms + check.ms).toFixed(0)} ms (ledger ${ledger.ms.toFixed(0)}, `
      + `claims ${searches.ms.toFixed(0)} by searches, ${alternation.ms.toFixed(0)} by one alternation)`,
    `  the core is ${faster.toFixed(1)} times as fast`,
    `  it adds ${memory === undefined ? '(not told by this system)' : `${memory.toFixed(2)} times the text`} of memory`,
    `  unverified: core ${core.value.unverified.length}, expressions ${check.value.length}, of them not in the core's list ${missing(check.value).length}`,
  ].join('\n');
  return { text, faster, memory, agree: missing(check.value).length, unverified: core.value.unverified.length };
}

/** @returns the targets of the comparison that were missed, each as a sentence. */
export function speedMisses({ faster, memory }) {
  const misses = [];
  if (faster < FASTER) misses.push(`the core is ${faster.toFixed(1)} times as fast as regular expressions, wanted ${FASTER}`);
  if (memory !== undefined && memory >= MEMORY) misses.push(`it adds ${memory.toFixed(2)} times the text of memory, wanted under ${MEMORY}`);
  return misses;
}

if (process.argv.includes('--memory')) process.stdout.write(JSON.stringify(memoryRun()));
