/**
 * What each fault must lead to at each point (docs/rewind.md 3.1, 3.3, 3.5 to 3.7, 4.3). A cell says:
 *
 * - `outcome`: `folded`, the code of a refusal, or the reason that is thrown (an object, or a pattern of its
 *   message);
 * - `landed`: the edits that are in the log, in order, each behind its price; nothing else was written, but
 *   for `lonePrices`, prices whose replacement was refused;
 * - `warning`: patterns of what the result says besides its numbers; no warning without them;
 * - `turn`: why the turn ended; `nags`: warnings of the guard in it;
 * - `again`: what the next fold, asked for in a turn of its own, comes to;
 * - `stamped`: whether the provider knows of the fold once that next one is over.
 */
import { USER } from './rig.js';

const UNTOLD = /checkpoint service could not be told \(disk full\); the report stands/;
const unanswered = (reason) => new RegExp(`did not answer in time \\(${reason}\\); the report stands`);
const part = (why, count) => new RegExp(`Part of the fold could not land \\(${why}\\): ${count} of 5 nodes`);

const ALL = ['report', 'pointer', 'sibling'];
const folded = (more = {}) => ({
  outcome: 'folded',
  landed: ALL,
  lonePrices: 0,
  warning: [],
  turn: 'completed',
  nags: 0,
  again: 'EMPTY_REGION',
  stamped: true,
  ...more,
});
const refused = (outcome, more = {}) => ({
  outcome,
  landed: [],
  lonePrices: 0,
  warning: [],
  turn: 'completed',
  nags: 1,
  again: 'folded',
  stamped: true,
  ...more,
});

const FOLDED = folded();
/** A new mark in the middle is an exploration of its own, which the guard names and the next fold folds. */
const FOLDED_THEN_MARKED = folded({ nags: 1, again: 'folded' });
const FOLDED_THEN_LOST = folded({ again: 'NO_CHECKPOINT', stamped: undefined });
const CANCELLED = refused(USER, { turn: 'aborted', nags: 0 });
const AGENT_GONE = refused({ kind: 'disposed' }, { turn: 'aborted', nags: 0 });
const PLUGIN_GONE = refused(/its plugin was disposed/, { nags: 0 });
const CHANGED = refused('CHANGED');
const MARK_LOST = refused('CHANGED', { nags: 0, again: 'NO_CHECKPOINT', stamped: undefined });

/** What holds wherever the fold waits before its commit. */
const BEFORE = {
  'never settles, then abort': CANCELLED,
  'settles after abort': CANCELLED,
  'rejects after abort': CANCELLED,
  'agent disposed': AGENT_GONE,
  'plugin disposed': PLUGIN_GONE,
  'second fold started': FOLDED,
};

const STREAM = {
  ...BEFORE,
  'throws': refused('SUMMARY_FAILED'),
  'rejects': refused('SUMMARY_FAILED'),
  'surface changed': CHANGED,
  'mark changed': CHANGED,
  'mark lost': MARK_LOST,
};

/**
 * The commit is one block: what stops a fold takes effect before it or behind it, never inside. What a
 * stopped fold leaves behind it is that nobody waits for the provider's answer any more.
 */
const INSIDE = {
  'rejects': FOLDED,
  'never settles, then abort': folded({ turn: 'aborted', warning: [unanswered('user')] }),
  'settles after abort': folded({ turn: 'aborted', warning: [unanswered('user')] }),
  'agent disposed': folded({ turn: 'aborted', warning: [unanswered('disposed')] }),
  'plugin disposed': FOLDED,
  'mark changed': FOLDED_THEN_MARKED,
  'mark lost': FOLDED_THEN_LOST,
  'second fold started': FOLDED,
};

/**
 * The report's own edit is refused: nothing was folded, and at most a price that prices nothing was written.
 */
const refusedReport = (lonePrices) => ({
  ...INSIDE,
  'throws': refused('CHANGED', { lonePrices }),
  'rejects after abort': refused('CHANGED', { lonePrices, turn: 'aborted', nags: 0 }),
});

/** A later edit is refused: what landed before it stands, and the result counts that alone. */
const refusedPart = (landed, lonePrices, count) => ({
  ...INSIDE,
  'throws': folded({ landed, lonePrices, warning: [part('disk full', count)] }),
  'rejects after abort': folded({
    landed, lonePrices, turn: 'aborted', warning: [part('disk full', count), unanswered('user')],
  }),
  'surface changed': folded({ landed, lonePrices: 1, warning: [part('surface replace: .*', count)] }),
});

/** Outcomes by point and fault; the test fails for a cell that is not here. */
export const EXPECTED = {
  'latest mark': {
    ...BEFORE,
    'throws': refused('NO_CHECKPOINT'),
    'rejects': refused('NO_CHECKPOINT'),
    'surface changed': FOLDED,
    'mark changed': refused('EMPTY_REGION', { nags: 0, again: 'SHRINK', stamped: false }),
    'mark lost': refused('NO_CHECKPOINT', { nags: 0, again: 'NO_CHECKPOINT', stamped: undefined }),
  },
  'capability probe': { ...STREAM, 'throws': FOLDED, 'rejects': FOLDED },
  'first chunk': STREAM,
  'middle chunk': STREAM,
  'last chunk': STREAM,
  'before the commit': { ...STREAM, 'throws': CHANGED, 'rejects': CHANGED },
  'price of the report': { ...refusedReport(0), 'surface changed': refused('CHANGED', { lonePrices: 1 }) },
  'report': { ...refusedReport(1), 'surface changed': refused('CHANGED', { lonePrices: 1 }) },
  'price of the pointer': refusedPart(['report'], 0, 2),
  'pointer': refusedPart(['report'], 1, 2),
  'price of the sibling': refusedPart(['report', 'pointer'], 0, 4),
  'sibling': refusedPart(['report', 'pointer'], 1, 4),
  'completeFold': {
    ...INSIDE,
    'throws': FOLDED,
    'rejects after abort': folded({ turn: 'aborted', warning: [unanswered('user')] }),
    'plugin disposed': folded({ warning: [unanswered('.*its plugin was disposed')] }),
    'surface changed': FOLDED,
  },
  'completeFold again': {
    ...INSIDE,
    'throws': folded({ warning: [UNTOLD] }),
    'rejects': folded({ warning: [UNTOLD] }),
    'rejects after abort': folded({ turn: 'aborted', warning: [unanswered('user')] }),
    'plugin disposed': folded({ warning: [unanswered('.*its plugin was disposed')] }),
    'surface changed': FOLDED,
  },
  // The fold of before stands, and neither nags nor folds again, whatever becomes of the stamp.
  'stamp of a fold that stands': {
    'throws': refused('EMPTY_REGION', { nags: 0, again: 'EMPTY_REGION' }),
    'rejects': refused('EMPTY_REGION', { nags: 0, again: 'EMPTY_REGION' }),
    'never settles, then abort': refused(USER, { turn: 'aborted', nags: 0, again: 'EMPTY_REGION' }),
    'settles after abort': refused(USER, { turn: 'aborted', nags: 0, again: 'EMPTY_REGION' }),
    'rejects after abort': refused(USER, { turn: 'aborted', nags: 0, again: 'EMPTY_REGION' }),
    'agent disposed': refused({ kind: 'disposed' }, { turn: 'aborted', nags: 0, again: 'EMPTY_REGION' }),
    'plugin disposed': refused(/its plugin was disposed/, { nags: 0, again: 'EMPTY_REGION' }),
    'surface changed': refused('EMPTY_REGION', { nags: 0, again: 'EMPTY_REGION' }),
    'mark changed': refused('EMPTY_REGION', { nags: 1, again: 'folded' }),
    'mark lost': refused('EMPTY_REGION', { nags: 0, again: 'NO_CHECKPOINT', stamped: undefined }),
    'second fold started': refused('EMPTY_REGION', { nags: 0, again: 'EMPTY_REGION' }),
  },
};
