/**
 * What holds whoever edits: each edit priced and citing what it takes, no fault added by it, the log replaying
 * to the same surface, a meter that agrees, and the words of persons where somebody reads them. Checked on
 * the events themselves, without any code of the package.
 */
import { isDeepStrictEqual } from 'node:util';
import { Session } from '@deepseek-ai/dsh-session';
import { replaySurface } from '../laws/oracle.js';
import { editFaults } from '../laws/wire.js';
import { textOf } from '../support/wire.js';
import { segmentsOf } from '../turn-memory/stage.js';

const isReplacement = ({ surfaceOp }) => surfaceOp?.op === 'replace';

/** Who made a replacement, in a word. */
export function kindOf({ type, data }) {
  if (type === 'tool/result') {
    const text = textOf(data.message.content[0].content);
    if (text.startsWith('[compacted · deterministic receipt]')) return 'partial';
    return /characters cut by prune|middle pruned/.test(text) ? 'cut' : 'sibling';
  }
  return data.source.plugin;
}

/** Watches one session from its first event on and keeps a sentence for each breach. */
export class Watch {
  breaches = [];
  /** How many replacements of each kind there were, and of each kind under each. */
  tally = {};
  /** Set while a fold waits for its report, during which nobody else of ours may edit. */
  folding = false;
  #nodes = [];

  constructor(ctx, session) {
    this.session = session;
    ctx.on('session/event', (from, event) => {
      if (from === session) this.#take(event);
    });
    // Every plugin takes a refused append for a reason to leave things as they are, so nobody else would tell.
    const append = session.append.bind(session);
    session.append = (...event) => {
      try {
        return append(...event);
      } catch (error) {
        this.#say(`${event[0]} was refused: ${error.message}`);
        throw error;
      }
    };
  }

  #say(words) {
    this.breaches.push(words);
  }

  #must(holds, words) {
    if (!holds) this.#say(words);
  }

  #take(event) {
    const { surfaceOp: op, seq } = event;
    if (op === 'append') {
      this.#nodes = [...this.#nodes, seq];
    } else if (op !== undefined) {
      const before = this.#nodes;
      const [first, last] = [op.start, op.end].map((edge) => before.indexOf(edge));
      this.#nodes = before.toSpliced(first, last - first + 1, seq);
      this.#judge(event, before.slice(first, last + 1), before);
    }
  }

  #judge(event, taken, before) {
    const { events } = this.session;
    const log = events.at(-1)?.seq === event.seq ? events : [...events, event];
    const kind = kindOf(event);
    this.#count(kind);
    const under = new Set(taken.map((seq) => log[seq]).filter(isReplacement).map(kindOf));
    for (const one of under) this.#count(`${one} under ${kind}`);
    if (kind === 'rewind') this.#countSpanned(log, event, before);
    const who = `${kind} ${event.seq}`;
    const price = log[event.seq - 1];
    this.#must(/^compaction\/(prune|summary)$/.test(price.type), `${who} has no price before it`);
    this.#must(isDeepStrictEqual(price.data.shadowedSeqs, taken), `${who} is priced for other nodes`);
    const cited = event.sourceEventSeqs;
    this.#must(taken.every((seq) => cited.includes(seq)), `${who} takes what it does not cite`);
    this.#must(kind === 'compact' || cited.every((seq) => before.includes(seq)), `${who} cites what did not stand`);
    const inFold = /^(rewind|rewind-pointer|sibling|compact)$/.test(kind);
    this.#must(inFold || !this.folding, `${who} landed inside a fold`);
    const boundary = log.slice(0, event.seq).findLast(({ type }) => /^(turn|step)\/(start|end)$/.test(type));
    this.#must(kind !== 'turn-memory' || boundary.type !== 'step/start', `${who} landed inside a step`);
    for (const fault of editFaults(log, before, this.#nodes)) this.#say(`${who} ${fault}`);
  }

  #count(word) {
    this.tally[word] = (this.tally[word] ?? 0) + 1;
  }

  /** A fold whose region has a checkpoint in its middle lands around it. */
  #countSpanned(log, { data, surfaceOp }, before) {
    const spanned = before.slice(before.indexOf(data.source.start), before.indexOf(surfaceOp.start));
    if (spanned.some((seq) => log[seq].data.source?.plugin === 'turn-memory')) this.#count('fold around a checkpoint');
  }

  /** Checks what has to hold at any rest, with the meter's own two counts. */
  rest(ctx) {
    const { session } = this;
    const { events } = session;
    const nodes = this.#nodes;
    this.#must(isDeepStrictEqual([...session.surface.nodes], nodes), 'the surface is not what the events say');
    this.#must(isDeepStrictEqual(replaySurface(events), nodes), 'a replay by hand gives another surface');
    const again = Session.fromRestore(session.id, structuredClone(events), session.header);
    this.#must(isDeepStrictEqual([...again.surface.nodes], nodes), 'the log replays to another surface');
    const messages = again.deriveMessages();
    this.#must(isDeepStrictEqual(messages, session.deriveMessages()), 'the log replays to other messages');
    const { surfaceTokens } = ctx.tokenMeter.measure(session);
    const { messageTokens } = ctx.sessionProjections.snapshot(session).values.contextBreakdown;
    this.#must(messageTokens === surfaceTokens, `the meter is off: ${messageTokens} and ${surfaceTokens}`);
    for (const event of events) {
      const isPersons = event.type === 'user/message' && event.data.source.kind === 'user' && !isReplacement(event);
      if (isPersons) this.#hear(event);
    }
  }

  /** A person's words stand as they were, as a steer of a checkpoint, or as a quote; a compaction may take them. */
  #hear({ seq, data }) {
    const { events } = this.session;
    const said = textOf(data.content);
    let at = seq;
    const path = [];
    while (!this.#nodes.includes(at)) {
      const seqOf = at;
      const taker = events.find((event) => (
        isReplacement(event) && event.seq > seqOf && event.sourceEventSeqs.includes(seqOf)));
      if (taker === undefined) {
        this.#say(`the words of seq ${seq} stand nowhere`);
        return;
      }
      at = taker.seq;
      path.push(kindOf(taker));
    }
    if (path.length === 0 || path.includes('compact')) return;
    const node = events[at];
    const steers = kindOf(node) === 'turn-memory'
      ? segmentsOf(node).filter(([kind]) => kind === 'user-steer').map(([, , text]) => text) : [];
    const quotes = this.#nodes.flatMap((one) => events[one].data.source?.quotes ?? []);
    if (!steers.includes(said) && !quotes.includes(said)) {
      this.#say(`the words of seq ${seq} are lost under ${path.join(', ')}: ${JSON.stringify(said.slice(0, 60))}`);
    }
  }
}
