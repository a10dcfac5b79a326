/** `/rewind status` and `/rewind preview`: where a session stands, and what a fold now would do. */
import { priceOf } from '../host/commit.js';
import { harness } from '../host/compat.js';
import { RewindError } from '../host/error.js';
import { providerFault } from '../host/model.js';
import { findReport } from '../host/reports.js';
import { charsOf, readSurface } from '../host/surface.js';
import { count, oneLine, plural, range, size } from '../host/words.js';
import { ago, speaker, toolsIn } from './command-text.js';
import { NO_PROVIDER } from './fold.js';
import { latestMark } from './mark.js';
import { namesFault } from './names.js';

/** Kept nodes named one by one; more than these would hide the numbers. */
const NAMED = 20;

const RUNNING = 'A turn is running, so /rewind fold would be refused until it ends; the tool would not.';

/** The session's latest mark and whether it is still to be folded; the log decides, then the provider. */
async function markOf(ctx, session, signal) {
  const provider = ctx.get('checkpoint');
  if (!provider) throw new RewindError('NO_CHECKPOINT', NO_PROVIDER);
  const mark = await latestMark(provider, session, signal, { next: 'so nothing can be said of it. Ask again later.' });
  const report = mark && findReport(session, mark);
  return { mark, report, active: mark !== undefined && !report && !mark.folded };
}

/** What is wrong with the set-up as it is now, a line each: the harness's default log does not show warnings. */
function warnings({ ctx, config }) {
  const faults = [
    namesFault(ctx, config),
    config.report === 'model' && providerFault(ctx.llm, 'summarizationProvider', config.summarizationProvider),
  ];
  return faults.filter(Boolean).map((fault) => `Warning: ${fault.replace(/\.$/, '')}.`);
}

/**
 * @param host - `{ ctx, config }` of the entry plugin.
 * @param agent - the agent whose session is looked at.
 * @param _args - none.
 * @param signal - ends the wait for the checkpoint service.
 * @returns a promise of the text of `/rewind status`.
 */
export async function status(host, agent, _args, signal) {
  return [await standing(host, agent, signal), ...warnings(host)].join('\n');
}

async function standing({ ctx, config }, { session }, signal) {
  const { mark, report, active } = await markOf(ctx, session, signal);
  if (!mark) return `No mark in this session yet. A model sets one with \`${config.checkpointToolName}\`.`;
  if (!active) {
    const where = report ? `; its report stands at s${report.seq}` : '';
    return `No active mark: mark ${mark.id} is folded${where}. /rewind list shows all folds.`;
  }
  const events = harness.events(session);
  if (mark.fault) return `No mark that can be folded. ${mark.fault}`;
  if (!(mark.logLength >= 0 && mark.logLength <= events.length)) {
    return `Mark ${mark.id} cannot be folded: its logLength is ${mark.logLengthText}, and this log has ${count(events.length)} events.`;
  }
  const taken = events[mark.logLength - 1] ?? events[0];
  const { nodes, origins } = readSurface(session, events);
  const since = [...nodes]
    .filter((seq) => origins[seq] >= mark.logLength && !answers(events[seq], mark.callId));
  const tokens = priceOf(ctx.get('tokenMeter'), session, since, events);
  return [
    `Mark ${mark.id} is active, set ${taken ? ago(taken.time) : 'just now'} at s${mark.logLength}`
      + `${mark.objective ? `: ${oneLine(mark.objective)}` : '.'}`,
    `Since then: ${plural(since.length, 'node')}, ${size(charsOf(session, since), tokens)}.`,
    'Look first with /rewind preview, fold with /rewind fold, drop the mark with /rewind discard.',
  ].join('\n');
}

function answers({ type, data }, callId) {
  return type === 'tool/result' && callId !== undefined && data.message.source?.callId === callId;
}

/**
 * @param host - `{ ctx, config, engine }` of the entry plugin.
 * @param agent - the agent whose session is looked at.
 * @param _args - none.
 * @param signal - ends the wait for the checkpoint service.
 * @returns a promise of the text of `/rewind preview`.
 */
export async function preview({ ctx, engine, config }, agent, _args, signal) {
  const { session } = agent;
  const { mark } = await markOf(ctx, session, signal);
  if (!mark) {
    return 'Nothing to fold: no mark in this session. '
      + `A model sets one with \`${config.checkpointToolName}\`.`;
  }
  let outlook;
  try {
    outlook = engine.outlook(agent, mark);
  } catch (error) {
    if (typeof error.code !== 'string') throw error;
    return `A fold of ${mark.id === undefined ? 'the latest mark' : `mark ${mark.id}`} would be refused (${error.code}): ${error.message}`;
  }
  const { facts, segments, siblings, quotes, kept, route, room, refusal } = outlook;
  const events = harness.events(session);
  const at = (seqs) => seqs.map((seq) => events[seq]);
  const { foldedNodes, start, end, foldedChars, foldedTokens } = facts;
  const lines = [
    `A fold of mark ${mark.id} now takes ${plural(foldedNodes, 'node')} (${range(start, end)}): `
      + `${size(foldedChars, foldedTokens)}.`,
    ...segments.map((seqs, index) => {
      const becomes = index === segments.length - 1 ? 'the report' : 'one line that points to the report';
      const tools = toolsIn(at(seqs));
      const named = tools.length > 0 ? ` (${tools.join(', ')})` : '';
      const become = seqs.length === 1 ? 'becomes' : 'become';
      return `  ${range(seqs[0], seqs.at(-1))}: ${plural(seqs.length, 'node')}${named}, ${become} ${becomes}`;
    }),
    ...siblings.map((seq, index) => {
      const carries = segments.length === 0 && index === siblings.length - 1;
      return `  s${seq}: a result beside the mark's call, rewritten in place`
        + `${carries ? ' as the report' : ''}`;
    }),
    ...(quotes.length > 0 ? [`It quotes word for word: ${quotes.map((seq) => `s${seq}`).join(', ')}.`] : []),
    ...(kept.length > 0 ? ['It keeps:'] : []),
    ...kept.slice(0, NAMED).map(({ seq, why }) => `  s${seq} ${speaker(events[seq])}: ${why}`),
    ...(kept.length > NAMED ? [`  and ${plural(kept.length - NAMED, 'node')} more`] : []),
  ];
  if (refusal) return [...lines, `It would be refused (${refusal.code}): ${refusal.message}`].join('\n');
  return [
    ...lines,
    ...(route ? asks(route, room, config) : ['It asks no model: code alone makes the report.']),
    ...(agent.status === 'running' ? [RUNNING] : []),
  ].join('\n');
}

/** Who is asked for the report, and how long it may be: the fold itself goes by the same numbers. */
function asks({ provider, model, routed }, room, { maxTokens }) {
  const own = routed ? "the session's own route" : 'the configured route';
  const asked = `It asks ${provider}/${model} (${own}) for a report of at most ${plural(maxTokens, 'token')}.`;
  if (!room) return [asked];
  const most = `A report of more than about ${plural(room.chars, 'character')} would not make the context smaller and would be `
    + 'refused (SHRINK)';
  return [asked, `${most}${room.scant ? ': hardly any report is that short, so go on, or drop the mark.' : '.'}`];
}
