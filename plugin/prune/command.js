/** `/prune`: what a person asks of the plugin (docs/prune.md 3.4). The model gets no tool of it. */
import { harness } from '../host/compat.js';
import { isReplacement, resultOf } from '../host/events.js';
import { openTurn } from '../host/turn.js';
import { count, plural, range } from '../host/words.js';
import { native } from '../native.js';
import { PLUGIN } from './receipts.js';
import { goalOf, stateOf } from './state.js';

const RECEIPT_HEADERS = native.pruneDefaults().headers;

/** Sub-commands with what they do, in the order of the help. */
const KNOWN = {
  'status': 'judge, pressure, and what was done so far (the default)',
  'now': 'a pass now, whatever the pressure',
  'receipts': 'the receipts that stand in the context',
  'dry-run': 'what a pass now would do; changes nothing',
  'help': 'this list',
};

/**
 * Makes the command.
 *
 * @param pruning - the plugin's {@link import('./pruning.js').Pruning}.
 * @returns its definition for `ctx.commands.register`.
 */
export function pruneCommand(pruning) {
  const handlers = {
    'status': ({ agent }) => statusText(pruning, agent),
    'now': (invocation) => now(pruning, invocation),
    'receipts': ({ agent }) => receiptsText(agent.session),
    'dry-run': (invocation) => dryRun(pruning, invocation),
    help,
  };
  return {
    name: 'prune',
    description: 'See and steer judged pruning of this session.',
    input: { hint: `[${Object.keys(KNOWN).join(' | ')}]` },
    async handler(invocation) {
      const name = invocation.rawInput.trim().toLowerCase() || 'status';
      if (!Object.hasOwn(handlers, name))
        return { kind: 'error', text: `/prune ${name} is not known. Known: ${Object.keys(KNOWN).join(', ')}.` };
      if (name !== 'help' && !pruning.handles(invocation.agent.session)) {
        return {
          kind: 'error',
          text: 'Child sessions are not pruned; set subagents: true in the row to change that.',
        };
      }
      try {
        return { kind: 'success', text: await handlers[name](invocation) };
      } catch (error) {
        if (invocation.signal.aborted) throw error;
        return { kind: 'error', text: error.message };
      }
    },
  };
}

function help() {
  const width = Math.max(...Object.keys(KNOWN).map((name) => name.length));
  return [
    'Pruning cuts results that are not needed any more and turns finished reading steps into receipts.',
    ...Object.entries(KNOWN).map(([name, what]) => `  /prune ${name.padEnd(width)}  ${what}`),
    'The log keeps the originals; they come back through recall.',
  ].join('\n');
}

async function now(pruning, { agent, signal }) {
  const { session } = agent;
  const state = stateOf(session);
  if (openTurn(harness.events(session)) !== undefined || agent.status === 'running') {
    state.forced = true;
    return 'A turn runs: a pass follows before its next step, whatever the pressure.';
  }
  const last = await agent.runMaintenance(async (own) => {
    state.goal = goalOf(session);
    const both = AbortSignal.any([own, signal]);
    await pruning.learnWindow(agent, both);
    return pruning.pass(agent, { forced: true, signal: both, gates: pruning.gates(session) });
  });
  if (last.blocked) return `Nothing was pruned: ${blockedWords(last)}`;
  state.forced = !last.dry;
  pruning.heartbeat(agent);
  const { full = 0, charsFreed = 0, waiting = 0, blocked, failed } = last.compact ?? {};
  const bodies = waiting > 0 ? [`${plural(waiting, 'receipt')} inside batches`] : [];
  return [
    blocked
      ? `No receipt landed: ${blocked}.`
      : `${plural(full, 'receipt')} landed, ${plural(charsFreed, 'character')} freed.`,
    ...(failed ? [`The next one did not land: ${failed}.`] : []),
    last.dry
      ? 'dryRun is on, so nothing lands.'
      : `The rest (${['results to cut', ...bodies].join(', and ')}) needs an ` +
        'open turn and follows before the next step, whatever the pressure.',
  ].join('\n');
}

async function dryRun(pruning, { agent, signal }) {
  const { session } = agent;
  const pass = async (own) => {
    stateOf(session).goal = goalOf(session);
    const both = AbortSignal.any([own, signal].filter(Boolean));
    await pruning.learnWindow(agent, both);
    return pruning.pass(agent, { forced: true, dry: true, signal: both, gates: pruning.gates(session) });
  };
  const last = await (agent.status === 'running' ? pass() : agent.runMaintenance(pass));
  if (last.blocked) return `Nothing would be pruned: ${blockedWords(last)}`;
  const { trim, compact } = last;
  const lines = [`Judge: ${last.judge.id}.`];
  if (trim.blocked) lines.push(`Results: ${trim.blocked}.`);
  else
    lines.push(`${plural(trim.plan.cuts.length, 'result')} would be cut:`, ...trim.plan.cuts.map(cutLine));
  if (compact.blocked) lines.push(`Receipts: ${compact.blocked}.`);
  else lines.push(`${plural(compact.edits.length, 'receipt')} would land:`, ...compact.edits.map(editLine));
  return lines.join('\n');
}

/** A failure in its own finished words, anything else in ours. */
function blockedWords({ blocked, why }) {
  return why === undefined ? `${blocked}.` : `${blocked}: ${why}`;
}

function cutLine({ seq, charsBefore, charsAfter }) {
  return `- s${seq}: ${count(charsBefore)} to ${plural(charsAfter, 'character')}`;
}

function editLine({ full, seqs, landed, shadowed }) {
  const what = full ? range(seqs[0], seqs.at(-1)) : `the body of s${seqs[0]}`;
  return `- ${what}: about ${count(shadowed)} to ${plural(landed, 'token')}`;
}

function statusText(pruning, agent) {
  const { config } = pruning;
  const { last, counters, judge, forced } = stateOf(agent.session);
  const gates = pruning.gates(agent.session);
  const lines = [
    `Judge: ${config.judge}${judge === undefined ? '' : ` (last pass: ${judge})`}.`,
    `Context: ${tokens(gates.used)} of ${tokens(gates.window)} tokens.`,
    `Results: ${gateLine(gates.trim)}.`,
    `Receipts: ${gateLine(gates.compact)}.`,
    `So far: ${plural(counters.passes, 'pass', 'passes')}, ${count(counters.cutByVerdict)} cut by verdict, ` +
      `${count(counters.cutByVolume)} by size, ${plural(counters.receipts, 'receipt')}, ` +
      `${count(counters.partialReceipts)} inside batches, ${plural(counters.charsFreed, 'character')} freed, ` +
      `${plural(counters.errors, 'error')}.`,
  ];
  if (last.at) lines.push(`Last pass at ${last.at}: ${passLine(last)}`);
  if (forced) lines.push('A pass follows before the next step.');
  const missing = pruning.registry.missing(config.judge);
  const warnings = new Set([missing ? `${missing}: results stay unjudged` : [], pruning.log.warnings].flat());
  lines.push(...[...warnings].map((warning) => `Warning: ${warning}`));
  return lines.join('\n');
}

function passLine({ blocked, trim, compact }) {
  if (blocked) return `nothing, ${blocked}.`;
  const stays = Object.entries(compact?.stays ?? {}).map(([reason, times]) => `${reason} ${count(times)}`);
  const parts = [
    trim && (trim.blocked ? `results: ${trim.blocked}` : `${trim.byVerdict ?? trim.planned} cut by verdict`),
    compact &&
      (compact.blocked
        ? `receipts: ${compact.blocked}`
        : `${compact.full ?? 0} receipts of ${compact.eligible} eligible in ${compact.population} judged`),
    trim?.failed && `cutting ended early: ${trim.failed}`,
    compact?.failed && `a receipt did not land: ${compact.failed}`,
    stays.length > 0 && `staying: ${stays.join(', ')}`,
  ];
  return `${parts.filter(Boolean).join('; ') || 'nothing to do'}.`;
}

function gateLine({ open, reason, threshold }) {
  const limit = threshold === undefined || threshold === null ? '' : `, from ${plural(threshold, 'token')}`;
  return `${open ? 'open' : 'closed'} (${reason}${limit})`;
}

function receiptsText(session) {
  const events = harness.events(session);
  const found = session.surface.nodes.map((seq) => events[seq]).flatMap((event) => receiptLine(event) ?? []);
  return found.length === 0
    ? 'No receipt stands on the surface.'
    : [
        `${plural(found.length, 'receipt')} on the surface; the originals come back through recall:`,
        ...found,
      ].join('\n');
}

/** One line for a receipt, in whichever form it stands; undefined for any other event. */
function receiptLine(event) {
  if (!isReplacement(event)) return undefined;
  if (event.type === 'tool/result') {
    const text = resultOf(event).blocks[0]?.text ?? '';
    return RECEIPT_HEADERS.some((header) => text.startsWith(header))
      ? `- s${event.seq}, one body: ${text.slice(text.indexOf(']') + 2)}`
      : undefined;
  }
  if (event.type !== 'user/message') return undefined;
  const { source, content } = event.data;
  const text = content
    .map((block) => block.text ?? '')
    .find((one) => RECEIPT_HEADERS.some((header) => one.startsWith(header)));
  const isOurs = source.plugin === PLUGIN && source.receipt === 1;
  // Compaction's own node, where the receipt went through its bracket.
  const isRegion = source.plugin === 'compact' && text !== undefined;
  if (!isOurs && !isRegion) return undefined;
  const calls = (text ?? '').split('\n').filter((line) => line.startsWith('· s')).length;
  return `- s${event.seq}: ${event.sourceEventSeqs.length} events cited, ${plural(calls, 'line')} of facts`;
}

function tokens(known) {
  return known === undefined ? 'an unknown number' : count(known);
}
