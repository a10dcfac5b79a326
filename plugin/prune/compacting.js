/** Layer 2: whole steps and single bodies that become receipts (docs/prune.md 3.6). */
import { harness } from '../host/compat.js';
import { acquire, holder } from '../host/lock.js';
import { openTurn } from '../host/turn.js';
import { affordable, landReceipt, resultChars, stands } from './receipts.js';
import { fence, landRegion } from './region.js';
import { serviceOf } from './services.js';
import { OWNER, stateOf } from './state.js';
import { spread, verdictsFor } from './verdicts.js';
import { readView } from './view.js';

/** Layer 2 of one plugin instance. */
export class Compacting {
  /**
   * @param ctx - the plugin's context.
   * @param parts - `config`, the row; `settings`, the same compiled; `hooks`; `log`.
   * @param handles - tells whether a session is pruned at all.
   */
  constructor(ctx, { config, settings, hooks, log }, handles) {
    Object.assign(this, { ctx, config, settings, hooks, log, handles });
  }

  /** Stands around the compaction that an agent uses, where receipts go through it. */
  attach(agent) {
    if (this.config.receiptTransport !== 'region') return;
    const compaction = serviceOf(this.ctx, agent, 'compaction');
    if (compaction !== undefined) fence(this.hooks, compaction);
  }

  /**
   * Plans receipts, prices them and lands what is cheap enough.
   *
   * @param agent - the agent.
   * @param dry - land nothing; the answer then has the `edits`.
   * @param signal - ends the work between two landings.
   * @returns a promise of what was planned, what stays for which reason, and what landed.
   * @throws what the core throws, and the signal's reason; a landing that fails ends the pass, and what landed
   *   before stays.
   */
  async run(agent, dry, signal) {
    const { session } = agent;
    if (compactionRuns(harness.events(session))) return { blocked: 'a compaction runs' };
    const read = readView(this.settings, session);
    const verdicts = verdictsFor(this.config, session, read);
    const plan = read.view.receipts(verdicts);
    const meter = this.ctx.get('tokenMeter');
    const compaction = this.#compactionOf(agent);
    const edits = affordable(plan, session, meter, compaction !== undefined);
    const { population, eligible, stays } = plan;
    const facts = {
      need: spread(verdicts.need), effect: spread(verdicts.effect),
      population, eligible, stays, tools: read.view.tools(), planned: edits.length,
    };
    if (dry) return { ...facts, edits };
    const release = acquire(session, OWNER);
    if (release === undefined) return { ...facts, blocked: `held by ${holder(session)}` };
    try {
      return { ...facts, ...(await this.#landAll(agent, edits, { compaction, meter, signal })) };
    } finally {
      release();
    }
  }

  async #landAll(agent, edits, { compaction, meter, signal }) {
    const { session } = agent;
    const { counters } = stateOf(session);
    const done = { full: 0, partial: 0, charsFreed: 0, waiting: 0 };
    for (const edit of edits) {
      const region = edit.full ? compaction : undefined;
      // A body may only change while a turn is open, and compaction's bracket needs one too.
      if ((!edit.full || region) && openTurn(harness.events(session)) === undefined) {
        done.waiting += 1;
        continue;
      }
      // Landing through compaction waits, and much can happen meanwhile.
      if (!this.handles(session) || signal.aborted || !stands(session, edit.seqs)) break;
      const freed = resultChars(session, edit.seqs) - edit.text.length;
      try {
        if (region) await landRegion(region, agent, edit, signal);
        else landReceipt(session, edit, meter);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        counters.errors += 1;
        this.log.once(`${session.id} receipt ${error.message}`, `a receipt did not land: ${error.message}`);
        return { ...done, failed: error.code ?? error.message };
      }
      done[edit.full ? 'full' : 'partial'] += 1;
      done.charsFreed += freed;
      counters[edit.full ? 'receipts' : 'partialReceipts'] += 1;
      counters.charsFreed += freed;
    }
    return done;
  }

  /** The compaction service where receipts go through it. */
  #compactionOf(agent) {
    if (this.config.receiptTransport !== 'region') return undefined;
    const compaction = serviceOf(this.ctx, agent, 'compaction');
    if (typeof compaction?.summarize === 'function') return compaction;
    this.log.once(
      'no compaction',
      'receiptTransport is region, but no compaction service can take a receipt; they land directly',
    );
    return undefined;
  }
}

/** Whether the session's compaction lock is held; one from before a seed boundary is stale. */
function compactionRuns(events) {
  for (let at = events.length - 1; at >= 0; at -= 1) {
    const { type } = events[at];
    if (type === 'compaction/start') return true;
    if (type === 'compaction/end' || type === 'session/end-seed') return false;
  }
  return false;
}
