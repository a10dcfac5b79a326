/**
 * The `region` transport: a receipt landed through compaction's own bracket (docs/prune.md 3.6).
 *
 * Compaction knows no ranges, only `summarize(input)`. Which call is ours is told by the async context of our
 * own `compactRegion`, entered once and claimed once; a count or an order of calls would hand a receipt to
 * whoever summarizes first.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isDeepStrictEqual } from 'node:util';
import { harness } from '../host/compat.js';
import { RewindError } from '../host/error.js';

/**
 * @type {AsyncLocalStorage<{ session: object, messages: object[], text: string, entered: boolean, claimed:
 *   boolean }>}
 */
const ours = new AsyncLocalStorage();

/**
 * Puts the fence around a compaction service.
 *
 * @param hooks - the plugin's hooks, which also take it away.
 * @param compaction - the service, as the agent resolves it.
 */
export function fence(hooks, compaction) {
  hooks.hook(
    compaction,
    'compactRegion',
    (behind) =>
      function compactRegion(...args) {
        const entry = ours.getStore();
        if (entry === undefined || entry.entered)
          return ours.run(undefined, () => Reflect.apply(behind, this, args));
        entry.entered = true;
        return Reflect.apply(behind, this, args);
      },
  );
  hooks.hook(
    compaction,
    'compactNow',
    (behind) =>
      function compactNow(...args) {
        return ours.run(undefined, () => Reflect.apply(behind, this, args));
      },
  );
  if (typeof compaction.summarize !== 'function') return;
  hooks.hook(
    compaction,
    'summarize',
    (behind) =>
      function summarize(input, agent, signal) {
        const entry = ours.getStore();
        const isOurs =
          entry !== undefined &&
          !entry.claimed &&
          !signal?.aborted &&
          agent.session === entry.session &&
          isDeepStrictEqual(input.messages, entry.messages);
        if (!isOurs) return ours.run(undefined, () => Reflect.apply(behind, this, [input, agent, signal]));
        entry.claimed = true;
        const { provider, model } = routeOf(agent);
        return Promise.resolve({ summary: [{ type: 'text', text: entry.text }], provider, model });
      },
  );
}

function routeOf({ session, options }) {
  const { provider, model } = session.requestHeader()?.config ?? options;
  return { provider: provider ?? '', model: model ?? '' };
}

/**
 * Lands one full receipt through compaction.
 *
 * @param compaction - the fenced service.
 * @param agent - the agent whose session is edited; its lock is held and a turn is open.
 * @param edit - `seqs` and `text` of the receipt.
 * @param signal - the turn's signal.
 * @throws {RewindError} `FENCE_LOST` when something else wrote the summary; what compaction throws otherwise.
 */
export async function landRegion(compaction, agent, { seqs, text }, signal) {
  const { session } = agent;
  const events = harness.events(session);
  const messages = seqs
    .map((seq) => session.deriveEventMessage(events[seq]))
    .filter((message) => message !== null);
  const entry = { session, messages, text, entered: false, claimed: false };
  await ours.run(entry, () => compaction.compactRegion(seqs[0], seqs.at(-1), agent, signal));
  if (!entry.claimed) {
    throw new RewindError(
      'FENCE_LOST',
      'compaction did not take the receipt: another summary stands in its place',
    );
  }
}
