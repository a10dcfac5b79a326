/**
 * One fold, as the core drives it: this class performs the transaction's effects and keeps the texts, the
 * mark and the reasons that never cross (design: how one fold walks).
 */
import { harness } from '../host/compat.js';
import { untilAborted } from '../host/abort.js';
import { reasonOf, RewindError } from '../host/error.js';
import { ask, probeRoute, providerFault, resolveRoute } from '../host/model.js';
import { findReport, REPORT_PLUGIN } from '../host/reports.js';
import { internedAs, readWindow } from '../host/surface.js';
import { assistantBefore, openTurn } from '../host/turn.js';
import { native } from '../native.js';
import { drive } from './drive.js';
import { addUsage, defined, isCount, recount, warningsOf } from './facts.js';
import { draft, landAll, priceOfDrafts, pricesOf } from './landing.js';
import { isSameMark, latestMark } from './mark.js';
import { namesFault } from './names.js';
import { composeReport, languageOf } from './report.js';
import { personsWords, quoted } from './messages.js';
import { reportRequest } from './request.js';

/** What a model is told where no checkpoint provider is mounted. */
export const NO_PROVIDER = "No checkpoint provider is mounted: add the row { id: tool-rewind-checkpoint, name: "
  + "'@dpskh/tool-rewind/checkpoint' } to the profile's cordis.patch.yml, or enable it there.";

const NO_ROUTE = 'No model is known for the report: set summarizationProvider and summarizationModel of tool-rewind, '
  + "or route a request first (the session's request header), or give the agent a provider and a model in its options. "
  + 'Nothing was changed and the mark stays active.';

const noProvider = (unmounted) => `No report can be asked for: ${unmounted}. Set summarizationProvider and `
  + "summarizationModel of the row tool-rewind to a route that is there, or leave both out to use the session's own. "
  + 'Nothing was changed and the mark stays active.';

const FRESH = 'Nothing was changed; go on with the task: a new exploration needs a fresh checkpoint.';

/** Codes that the core throws with a finished sentence. */
const CODES = new Set(['EMPTY_REGION', 'UNBALANCED', 'CHANGED', 'SHRINK']);

/** A fold in progress. */
export class Fold {
  /**
   * @param host - `{ ctx, config }` of the entry plugin.
   * @param agent - the agent whose session is folded.
   * @param stop - `{ signal }` of the caller, the agent and the plugin: whichever goes first ends the fold.
   */
  constructor(host, agent, stop) {
    this.ctx = host.ctx;
    this.config = host.config;
    this.agent = agent;
    this.session = agent.session;
    this.stop = stop;
    this.usage = undefined;
    this.prose = undefined;
    this.sent = { sent: new Uint32Array(), extra: [] };
  }

  /**
   * Runs the fold to its end.
   *
   * @returns the result for the model.
   * @throws {RewindError} a classified refusal; or the exact reason of an abort before the commit.
   */
  async run() {
    const { maxTokens, maxSummarizationRetries: maxRetries, checkpointToolName } = this.config;
    const noMark = this.provider()
      ? [`Call \`${checkpointToolName}\` before the next exploration.`, namesFault(this.ctx, this.config)].filter(Boolean).join(' ')
      : NO_PROVIDER;
    const receiptOnFailure = this.config.onSummaryFailure === 'receipt';
    const outcome = await drive({ maxTokens, maxRetries, receiptOnFailure, noMark }, (effect) => this.perform(effect));
    if (outcome.kind === 'folded') {
      const warnings = [...warningsOf(this, outcome.stamped), namesFault(this.ctx, this.config)].filter(Boolean);
      for (const warning of warnings) this.ctx.logger?.warn(warning);
      return { ...this.facts(), ...(warnings.length === 0 ? {} : { warning: warnings.join(' ') }) };
    }
    if (outcome.kind === 'refused') {
      throw new RewindError(outcome.code, outcome.message, { ...this.facts(), cause: this.cause });
    }
    throw this.reason;
  }

  /**
   * Plans the fold of a mark without asking a model or writing anything.
   *
   * @param mark - the mark to fold from, as `readMark` reads it.
   * @returns the facts of the fold that would be made.
   * @throws what the fold would be refused for before its request.
   */
  preview(mark) {
    this.mark = mark;
    this.select();
    return this.facts();
  }

  /**
   * Looks at the fold of a mark as far as that goes without a request.
   *
   * @param mark - the mark to fold from.
   * @returns the plan's seqs, what stays and why, and what the fold would be refused for before its request.
   * @throws what it would be refused for before there is a plan.
   */
  outlook(mark) {
    const facts = this.preview(mark);
    const events = harness.events(this.session);
    const kept = native.foldOutlook(readWindow(this.session, this.mark.logLength, events), this.target(events));
    let refusal;
    try {
      this.weigh();
    } catch (error) {
      refusal = error;
    }
    const { siblings, segments, route } = this;
    const room = route && this.planned.proseRoom(...this.least());
    return { facts, segments, siblings, quotes: [...this.planned.quotes], kept, route, room, refusal };
  }

  /** Performs one effect; whatever goes wrong is kept here and told as an input. */
  async perform(effect) {
    const { signal } = this.stop;
    try {
      if (signal.aborted && effect.kind !== 'complete') throw signal.reason;
      return await this[effect.kind](effect);
    } catch (error) {
      // The reason of an abort is thrown as it is, even where it looks like a refusal (docs/rewind.md 3.6).
      const ended = signal.aborted && error === signal.reason;
      if (!ended && (error instanceof RewindError || CODES.has(error?.code))) {
        this.cause = error.cause;
        return { kind: 'refused', code: error.code, message: error.message };
      }
      this.reason = error;
      return { kind: 'stopped' };
    }
  }

  provider() {
    return this.ctx.get('checkpoint');
  }

  /** Reads the latest mark; a service that fails to tell is refused with `code`. */
  async latestMark(code) {
    const provider = this.provider();
    if (!provider) return undefined;
    const next = 'so nothing was folded. The mark stays as it is; fold again later, or go on.';
    return latestMark(provider, this.session, this.stop.signal, { code, next });
  }

  async 'latest-mark'() {
    this.mark = await this.latestMark('NO_CHECKPOINT');
    return { kind: 'mark', yes: this.mark !== undefined };
  }

  async prepare() {
    await this.restamp();
    this.select();
    this.weigh();
    if (!this.route) return { kind: 'prepared', yes: true };
    this.abilities = await probeRoute(this.ctx.llm, this.route, this.stop.signal);
    this.request = reportRequest(this);
    return { kind: 'prepared', yes: false };
  }

  /** What can be refused before a request: too small a region, and no route to send one to where one is needed. */
  weigh() {
    const { summarizationProvider: provider, summarizationModel: model, minSavings, report, onSummaryFailure } = this.config;
    this.planned.weighRegion(...this.least(), minSavings, report === 'receipt');
    if (report === 'receipt') return;
    const unmounted = providerFault(this.ctx.llm, 'summarizationProvider', provider);
    this.route = unmounted ? undefined : resolveRoute({ provider, model }, this.session, this.agent);
    if (this.route) return;
    if (onSummaryFailure === 'reject') throw new RewindError('NO_ROUTE', unmounted ? noProvider(unmounted) : NO_ROUTE);
    this.whyReceipt = unmounted ?? 'no model is known for it';
  }

  /** What the core weighs a region by before there is a report: quotes, the region's tokens, what lands around a report. */
  least() {
    const quoteChars = this.quotes.map((words) => quoted(words).length);
    const empty = this.meter && priceOfDrafts(this.meter, draft(this.edits(harness.events(this.session)), '', this.source()));
    return [quoteChars, this.foldedTokens, empty];
  }

  /** A report in the log is the truth: a service that does not know of it yet is told (docs/rewind.md 3.5). */
  async restamp() {
    const report = findReport(this.session, this.mark);
    if (!report || this.mark.folded) return;
    const { signal } = this.stop;
    try {
      await untilAborted(this.provider().completeFold(this.session.id, this.mark.id), signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.ctx.logger?.warn(error);
    }
  }

  /** Reads the surface and lets the core select the region. */
  select() {
    const { session, mark } = this;
    if (mark.fault) throw new RewindError('EMPTY_REGION', `${mark.fault} ${FRESH}`);
    const events = harness.events(session);
    const window = readWindow(session, mark.logLength, events);
    this.language = languageOf(this.config, events);
    this.planned = native.planFold(window, this.target(events), this.language);
    this.siblings = [...this.planned.siblings];
    const { nodes } = session.surface;
    this.segments = this.planned.segments.map(({ start, end }) => nodes.slice(window.from + start, window.from + end));
    this.runs = new Map([...this.siblings.map((seq) => [seq]), ...this.segments].map((seqs) => [seqs[0], seqs]));
    const meter = this.ctx.get('tokenMeter');
    this.prices = pricesOf(meter, session, this.runs, events);
    this.meter = this.prices && meter;
    this.foldedTokens = this.prices && [...this.prices.values()].reduce((sum, tokens) => sum + tokens, 0);
    this.quotes = this.collectQuotes(events);
  }

  /** The mark as the core takes it; the window must have been read, for that interns the names. */
  target(events) {
    const { session, mark } = this;
    return {
      mark: String(mark.id),
      logLength: mark.logLength,
      logLengthText: mark.logLengthText,
      logSize: events.length,
      lastAssistant: assistantBefore(events, mark.logLength)?.seq,
      call: mark.callId === undefined ? undefined : internedAs(session, mark.callId),
      checkpointName: internedAs(session, this.config.checkpointToolName),
      openTurn: openTurn(events) !== undefined,
      folded: mark.folded || findReport(session, mark) !== undefined,
    };
  }

  /** Persons' words to quote: of nodes inside an open pair, and of older reports that fold (docs/rewind.md 1.6). */
  collectQuotes(events) {
    const inside = new Set(this.planned.quotes);
    return [...this.planned.quoted].flatMap((seq) => (
      inside.has(seq) ? [personsWords(events[seq])] : events[seq].data.source.quotes ?? []
    ));
  }

  /** The folded seqs: rewritten siblings, then the segments' nodes. */
  get folded() {
    return this.siblings.concat(...this.segments);
  }

  async ask({ maxTokens }) {
    const answer = await ask(this.ctx.llm, { ...this.request, maxTokens, signal: this.stop.signal });
    const { usage, text } = answer;
    this.usage = addUsage(this.usage, usage);
    this.prose = text;
    return {
      kind: 'answer',
      ...answer,
      failure: answer.failure && this.named(answer.failure),
      outputTokens: isCount(usage?.outputTokens) ? usage.outputTokens : undefined,
      reasoningTokens: isCount(usage?.reasoningTokens) ? usage.reasoningTokens : undefined,
      usage: undefined,
    };
  }

  /** A failure of a configured route names the settings: the session's own model may be well. */
  named(failure) {
    const { summarizationProvider: provider, summarizationModel: model } = this.config;
    return provider === undefined
      ? failure
      : `${failure}; asked was ${provider}/${model}, as summarizationProvider and summarizationModel say`;
  }

  async confirm({ receipt }) {
    if (receipt !== undefined) {
      this.prose = undefined;
      this.whyReceipt = receipt;
    }
    const mark = await this.latestMark('CHANGED');
    const same = isSameMark(mark, this.mark) && !mark.folded;
    return { kind: 'confirmed', yes: same && !findReport(this.session, this.mark) };
  }

  /** The commit: synchronous from the re-read to the last append and the call of `completeFold` (docs/rewind.md 3). */
  async land() {
    if (this.stop.signal.aborted) throw this.stop.signal.reason;
    const { session, meter } = this;
    const events = harness.events(session);
    const edits = this.edits(events);
    const { text: report, chars, ledger, unverified } = this.compose(events, edits, meter);
    Object.assign(this, { reportChars: chars, ledger, unverified });
    this.reportTokens = priceOfDrafts(meter, draft(edits, report, this.source()));
    this.planned.weighLanding(this.reportChars, this.foldedTokens, this.reportTokens);
    this.landed = landAll(session, this.prices, draft(edits, report, this.source()));
    if (this.landed.failure) Object.assign(this, recount(this, meter, events));
    return { kind: 'landed', yes: await this.stamp() };
  }

  /** The plan's edits, after the core compared it with the surface as it stands. */
  edits(events) {
    const window = readWindow(this.session, this.mark.logLength, events);
    const edits = this.planned.edits(window, openTurn(events) !== undefined);
    return edits.map(({ kind, seq, text }) => ({ kind, seqs: this.runs.get(seq), text }));
  }

  /** The text work of a fold: everything that takes the words of the log. */
  compose(events, edits, meter) {
    return composeReport(this, events, edits, meter);
  }

  async complete() {
    return { kind: 'completed', yes: await this.stamp() };
  }

  /** Tells the checkpoint service; from the append on, the log is the truth whatever it answers. */
  async stamp() {
    try {
      await untilAborted(this.provider().completeFold(this.session.id, this.mark.id), this.stop.signal);
      return true;
    } catch (error) {
      this.stampFailure = this.stop.signal.aborted
        ? `did not answer in time (${reasonOf(this.stop.signal.reason)})`
        : `could not be told (${reasonOf(error)})`;
      return false;
    }
  }

  /** Fold facts live in the report's source: extra fields survive a round trip (docs/rewind.md 3.4). */
  source() {
    return {
      kind: 'plugin',
      plugin: REPORT_PLUGIN,
      ...this.facts(),
      language: this.language,
      ...(this.quotes.length === 0 ? {} : { quotes: this.quotes }),
      ...(this.unverified?.length ? { unverified: this.unverified } : {}),
      ...(this.ledger ? { ledger: this.ledger } : {}),
    };
  }

  /** What is known of the fold so far, for results and errors alike. */
  facts() {
    const { foldedTokens, reportChars, reportTokens, usage } = this;
    const { foldedNodes, start, end, foldedChars } = this.part ?? this.planned ?? {};
    return defined({
      markId: this.mark?.id,
      foldedNodes,
      start,
      end,
      foldedChars,
      reportChars,
      foldedTokens,
      reportTokens,
      usage,
      report: this.reportChars === undefined ? undefined : this.prose === undefined ? 'receipt' : 'model',
    });
  }
}
