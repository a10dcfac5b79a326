/**
 * The marks of one session, derived from its log (docs/rewind.md 5). Nothing is stored: a mark rides in the
 * `meta` of its tool result, its completion is the report, its discarding is the record of the command that
 * asked for it. So resume and fork keep them, and the append of a report is the completion.
 */
import { harness } from '../host/compat.js';
import { isReplacement, resultOf } from '../host/events.js';
import { reportOf } from '../host/reports.js';

/** The key under which a mark stands in the `meta` of a tool result. */
export const MARK_META = 'rewindMark';

const MARK_HEAD = /^\[checkpoint mark (\d+)\]/;

/**
 * The fixed text with which the tool's output begins. Inside `run_code` a call leaves no `meta`, only this
 * text, so the mark's id is read from it.
 *
 * @param {number} id - the mark.
 * @returns {string} the first words of the output.
 */
export function markHead(id) {
  return `[checkpoint mark ${id}]`;
}

/** The marks of every session that somebody asked about, each indexed from its log on first use. */
export class Marks {
  #toolName;
  /** @type {WeakMap<object, MarkIndex>} */
  #indexes = new WeakMap();

  /** @param {string} toolName - the checkpoint tool's name, by which calls inside `run_code` are known. */
  constructor(toolName) {
    this.#toolName = toolName;
  }

  /**
   * @param {object} session - a session of the harness.
   * @returns {MarkIndex} its marks.
   */
  of(session) {
    let index = this.#indexes.get(session);
    if (index === undefined) {
      index = new MarkIndex(session, this.#toolName);
      this.#indexes.set(session, index);
    }
    return index;
  }

  /**
   * Takes in a published event. A session nobody asked about is left alone until somebody does.
   *
   * @param {object} session - the event's session.
   * @param {object} event - the event.
   */
  observe(session, event) {
    this.#indexes.get(session)?.observe(event);
  }
}

/**
 * What one session's log says about its marks, kept up to date event by event.
 *
 * A mark counts from the moment it is taken, before its result is logged: a `rewind` right behind it must
 * see it. It is held under its call until the result arrives, which confirms it, or drops it when the call
 * failed after all.
 */
export class MarkIndex {
  #session;
  #toolName;
  #seen = 0;
  /** In the order in which they were taken. */
  #marks = [];
  #unlogged = new Map();
  #topId = 0;
  /** The last assistant message, by seq: the carrier of whatever is called now. */
  #carrier;
  /** The marks in whose carrier a result's call stands, by the seq of the result or of a rewrite of it. */
  #siblings = new Map();
  #dispatchStarts = new Map();
  #discards = new Set();

  /**
   * @param {object} session - the session to index; only read.
   * @param {string} toolName - the name of the checkpoint tool.
   */
  constructor(session, toolName) {
    this.#session = session;
    this.#toolName = toolName;
  }

  /**
   * Takes in one event just published. Events out of turn are left to the next {@link catchUp}.
   *
   * @param {object} event - the event.
   */
  observe(event) {
    if (event.seq !== this.#seen) return;
    this.#seen += 1;
    this.#fold(event);
  }

  /** Takes in what was never published: the seed of a resume or fork, appends to a detached session. */
  catchUp() {
    if (this.#seen === harness.logLength(this.#session)) return;
    const events = harness.events(this.#session);
    while (this.#seen < events.length) this.observe(events[this.#seen]);
  }

  /**
   * Takes a mark at the present end of the log.
   *
   * @param {string} [objective] - what the exploration is for.
   * @param {{ callId: string, rootCallId: string }} [call] - the tool call that takes it: its own id, and the
   *   id of the call that the model sees. Without one the mark lives in memory only.
   * @returns {object} the mark, see {@link latest}.
   */
  take(objective, call) {
    this.catchUp();
    const started = this.#dispatchStarts.get(call?.callId);
    const mark = {
      id: this.#topId + 1,
      logLength: started === undefined ? this.#seen : started + 1,
      callId: call?.rootCallId,
      objective,
      foldedAt: null,
      carrier: call === undefined ? null : this.#carrier,
    };
    this.#marks.push(mark);
    this.#topId = mark.id;
    if (call !== undefined) this.#unlogged.set(call.callId, mark);
    return view(mark);
  }

  /**
   * The most recent mark that was not discarded, folded or not. It stands in for all earlier ones: a rewind
   * folds since it, so an earlier mark left unfolded is of no further consequence.
   *
   * @returns {object | undefined} `{ id, logLength, callId?, objective?, foldedAt }`, frozen; `foldedAt` is
   *   null or the time of the completion in milliseconds.
   */
  latest() {
    this.catchUp();
    const from = this.#session.header.origin === 'subagent' ? harness.seedLength(this.#session) : 0;
    const mark = this.#marks.findLast(({ logLength, discarded }) => logLength >= from && !discarded);
    return mark && view(mark);
  }

  /**
   * Stamps a mark as folded. Where the report is in the log there is nothing left to stamp.
   *
   * @param {number} id - the mark; an unknown one is ignored.
   */
  complete(id) {
    this.catchUp();
    const mark = this.#find(id);
    if (mark !== undefined) mark.foldedAt ??= Date.now();
  }

  /**
   * Sets an unfolded mark aside, and with it the unfolded ones before it, as if they had never been taken.
   *
   * @param {number} id - the mark; an unknown or folded one is ignored.
   * @returns {number | undefined} the seq of the event that carries the mark, undefined for one in memory.
   */
  discard(id) {
    this.catchUp();
    const mark = this.#find(id);
    if (mark === undefined || mark.foldedAt !== null) return undefined;
    this.#drop(mark);
    return mark.seq;
  }

  /** Sets a mark aside, and with it the unfolded ones before it: none of them may become the active one again. */
  #drop(mark) {
    for (const one of this.#marks.slice(0, this.#marks.indexOf(mark) + 1)) one.discarded ||= one.foldedAt === null;
  }

  #find(id) {
    return this.#marks.findLast((mark) => mark.id === id);
  }

  #fold(event) {
    switch (event.type) {
      case 'assistant/message':
        if (!isReplacement(event)) this.#carrier = event.seq;
        break;
      case 'user/message':
        this.#foldReport(event);
        break;
      case 'tool/result':
        if (isReplacement(event)) this.#foldRewrite(event);
        else this.#foldResult(event);
        break;
      case 'tool/code-dispatch-start':
        this.#dispatchStarts.set(event.data.subCallId, event.seq);
        break;
      case 'tool/code-dispatch':
        this.#foldDispatch(event);
        break;
      case 'command/run':
        if (/^\s*discard\b/.test(event.data.args ?? '')) this.#discards.add(event.data.commandId);
        break;
      case 'command/done':
        this.#foldCommand(event);
        break;
      default:
    }
  }

  #foldResult(event) {
    const { callId, isError } = resultOf(event);
    this.#confirm(event, callId, isError ? undefined : statedMark(event, callId));
    const marks = this.#marks.filter(({ carrier }) => carrier === this.#carrier);
    if (marks.length > 0) this.#siblings.set(event.seq, marks);
  }

  /** A rewritten sibling of a checkpoint call may hold the report; no other rewritten result does. */
  #foldRewrite(event) {
    const marks = event.sourceEventSeqs.map((seq) => this.#siblings.get(seq)).find(Boolean);
    if (marks === undefined) return;
    this.#siblings.set(event.seq, marks);
    const report = reportOf(event);
    stamp(marks.find(({ id }) => id === report?.markId), event);
  }

  #foldDispatch(event) {
    const { subCallId, rootCallId, name, isError, content } = event.data;
    const start = this.#dispatchStarts.get(subCallId);
    this.#dispatchStarts.delete(subCallId);
    const head = MARK_HEAD.exec(content[0]?.type === 'text' ? content[0].text : '');
    const stated = !isError && name === this.#toolName && head !== null && start !== undefined
      ? {
        id: Number(head[1]),
        logLength: start + 1,
        callId: rootCallId,
        objective: cleanObjective(event.data.arguments?.objective),
      }
      : undefined;
    this.#confirm(event, subCallId, stated);
  }

  /** The call's outcome is in the log: it confirms the mark that was taken, brings it along, or drops it. */
  #confirm(event, callId, stated) {
    const taken = this.#unlogged.get(callId);
    if (taken !== undefined) this.#unlogged.delete(callId);
    if (stated === undefined) {
      if (taken !== undefined) this.#marks.splice(this.#marks.indexOf(taken), 1);
      return;
    }
    const facts = { ...stated, seq: event.seq };
    if (taken === undefined) this.#marks.push({ ...facts, foldedAt: null, carrier: this.#carrier });
    else Object.assign(taken, facts);
    this.#topId = Math.max(this.#topId, stated.id);
  }

  /**
   * A report completes the mark of its id that is known by then: events come in order, so a mark taken later
   * is never taken for an older report's. Ids go on after those of reports too, for readers that look up a
   * report by its id alone.
   */
  #foldReport(event) {
    const report = reportOf(event);
    if (report === undefined) return;
    stamp(this.#find(report.markId), event);
    if (Number.isSafeInteger(report.markId)) this.#topId = Math.max(this.#topId, report.markId);
  }

  /** A command `discard …` whose outcome cites the event of a mark has set that mark aside. */
  #foldCommand(event) {
    const { commandId, sourceEventSeq } = event.data;
    if (!this.#discards.delete(commandId) || sourceEventSeq === undefined) return;
    const mark = this.#marks.find(({ seq, foldedAt }) => seq === sourceEventSeq && foldedAt === null);
    if (mark !== undefined) this.#drop(mark);
  }
}

/**
 * @param {unknown} objective - an objective as a model or caller gave it.
 * @returns {string | undefined} its text, or undefined when there is none.
 */
export function cleanObjective(objective) {
  const text = typeof objective === 'string' ? objective.trim() : '';
  return text === '' ? undefined : text;
}

function stamp(mark, report) {
  if (mark !== undefined) mark.foldedAt ??= report.time;
}

/** The mark in a result's `meta`, unless it is malformed: another writer may use the same key. */
function statedMark(event, callId) {
  const { id, logLength, objective } = event.data.meta?.[MARK_META] ?? {};
  const sound = Number.isSafeInteger(id) && id >= 1
    && Number.isSafeInteger(logLength) && logLength >= 0 && logLength <= event.seq;
  return sound ? { id, logLength, callId, objective: cleanObjective(objective) } : undefined;
}

/** What a consumer sees of a mark. */
function view({ id, logLength, callId, objective, foldedAt }) {
  return Object.freeze({
    id,
    logLength,
    ...(callId === undefined ? {} : { callId }),
    ...(objective === undefined ? {} : { objective }),
    foldedAt,
  });
}
