/** `/rewind status` and `/rewind preview`: where a session stands, and what a fold now would do. */
import { harness } from '../host/compat.js';
import { priceOf } from '../host/commit.js';
import { RewindError } from '../host/error.js';
import { findReport } from '../host/reports.js';
import { charsOf, readSurface } from '../host/surface.js';
import { ago, plural, range, size, speaker, toolsIn } from './command-text.js';
import { NO_PROVIDER } from './fold.js';

/** Kept nodes named one by one; more than these would hide the numbers. */
const NAMED = 20;

const RUNNING = 'A turn is running, so /rewind fold would be refused until it ends; the tool would not.';

/** The session's latest mark and whether it is still to be folded; the log decides, then the provider. */
async function markOf(ctx, session) {
  const provider = ctx.get('checkpoint');
  if (!provider) throw new RewindError('NO_CHECKPOINT', NO_PROVIDER);
  const mark = await provider.latestMark(session.id);
  const report = mark && findReport(session, mark);
  return { mark, report, active: mark !== undefined && !report && (mark.foldedAt ?? null) === null };
}

/**
 * @param host - `{ ctx, config }` of the entry plugin.
 * @param agent - the agent whose session is looked at.
 * @returns a promise of the text of `/rewind status`.
 */
export async function status({ ctx, config }, { session }) {
  const { mark, report, active } = await markOf(ctx, session);
  if (!mark) return `No mark in this session yet. A model sets one with \`${config.checkpointToolName}\`.`;
  if (!active) {
    const where = report ? `; its report stands at s${report.seq}` : '';
    return `No active mark: mark ${mark.id} is folded${where}. /rewind list shows all folds.`;
  }
  const events = harness.events(session);
  const taken = events[mark.logLength - 1] ?? events[0];
  const { nodes, origins } = readSurface(session, events);
  const since = [...nodes]
    .filter((seq) => origins[seq] >= mark.logLength && !answers(events[seq], mark.callId));
  const tokens = priceOf(ctx.get('tokenMeter'), session, since, events);
  return [
    `Mark ${mark.id} is active, set ${taken ? ago(taken.time) : 'just now'} at s${mark.logLength}`
      + `${mark.objective ? `: ${mark.objective}` : '.'}`,
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
 * @returns a promise of the text of `/rewind preview`.
 */
export async function preview({ ctx, engine, config }, agent) {
  const { session } = agent;
  const { mark } = await markOf(ctx, session);
  if (!mark) {
    return 'Nothing to fold: no mark in this session. '
      + `A model sets one with \`${config.checkpointToolName}\`.`;
  }
  let outlook;
  try {
    outlook = engine.outlook(agent, mark);
  } catch (error) {
    if (typeof error.code !== 'string') throw error;
    return `A fold of mark ${mark.id} would be refused (${error.code}): ${error.message}`;
  }
  const { facts, segments, siblings, quotes, kept, route, refusal } = outlook;
  const events = harness.events(session);
  const at = (seqs) => seqs.map((seq) => events[seq]);
  const { foldedNodes, start, end, foldedChars, foldedTokens } = facts;
  const lines = [
    `A fold of mark ${mark.id} now takes ${plural(foldedNodes, 'node')} (s${start} to s${end}): `
      + `${size(foldedChars, foldedTokens)}.`,
    ...segments.map((seqs, index) => {
      const becomes = index === segments.length - 1 ? 'the report' : 'one line that points to the report';
      const tools = toolsIn(at(seqs));
      const named = tools.length > 0 ? ` (${tools.join(', ')})` : '';
      const become = seqs.length === 1 ? 'becomes' : 'become';
      return `  ${range(seqs)}: ${plural(seqs.length, 'node')}${named}, ${become} ${becomes}`;
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
  const own = route.routed ? "the session's own route" : 'the configured route';
  return [
    ...lines,
    `It asks ${route.provider}/${route.model} (${own}) for a report of at most `
      + `${plural(config.maxTokens, 'token')}.`,
    ...(agent.status === 'running' ? [RUNNING] : []),
  ].join('\n');
}
