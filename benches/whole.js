/**
 * A whole fold with an instant model: what this package itself costs beside the append it makes. The clock of
 * `session.append` and `session.events` is taken out, no meter is mounted, and the model answers at once.
 */
import { Fold } from '../plugin/rewind/fold.js';
import { Config } from '../plugin/rewind/config.js';
import { follow } from '../plugin/host/abort.js';
import { observeReport } from '../plugin/host/reports.js';
import { observe } from '../plugin/host/surface.js';
import { growSession, reopen } from './sessions.js';
import { median } from './clock.js';

const REPORT = '## Findings\nNothing of note.';

/** A clock that runs only inside the wrapped calls, the outermost counting. */
function stopwatch() {
  const spent = {};
  let inside = false;
  return {
    spent,
    wrap: (name, work) => (...args) => {
      if (inside) return work(...args);
      inside = true;
      const from = performance.now();
      try {
        return work(...args);
      } finally {
        spent[name] = (spent[name] ?? 0) + performance.now() - from;
        inside = false;
      }
    },
  };
}

function instrument(session, watch) {
  const { get } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(session), 'events');
  Object.defineProperty(session, 'events', { get: watch.wrap('events', () => get.call(session)) });
  session.append = watch.wrap('append', session.append.bind(session));
  return session;
}

async function foldOnce(base, share) {
  const session = reopen(base);
  for (const event of session.events) {
    observe(session, event);
    observeReport(session, event);
  }
  // The loop derives the messages at every step; the harness keeps them.
  session.deriveMessages();
  const watch = stopwatch();
  instrument(session, watch);
  globalThis.gc?.();
  const { nodes } = session.surface;
  const mark = { id: 1, logLength: nodes[Math.floor(nodes.length * (1 - share))] };
  const services = {
    checkpoint: { latestMark: () => mark, completeFold: () => undefined },
  };
  const llm = {
    resolveModelInfo: async () => ({}),
    async* stream() {
      yield { type: 'text-delta', index: 0, text: REPORT };
      yield { type: 'finish', reason: { kind: 'stop' } };
    },
  };
  const ctx = { get: (name) => services[name], llm };
  const agent = { session, options: { provider: 'bench', model: 'bench' } };
  const fold = new Fold({ ctx, config: Config({}) }, agent, follow());
  const from = performance.now();
  const result = await fold.run();
  const total = performance.now() - from;
  const { append = 0, events = 0 } = watch.spent;
  return { total, append, own: total - append - events, nodes: result.foldedNodes };
}

/** @returns one row a share, on a session of 100,000 events. */
export async function measureWhole(runs = 5) {
  const base = growSession(100_000);
  const rows = [];
  for (const share of [0.9, 0.01]) {
    const samples = [];
    for (let run = 0; run < runs; run += 1) samples.push(await foldOnce(base, share));
    const of = (key) => median(samples.map((sample) => sample[key]));
    rows.push({ share, nodes: samples[0].nodes, total: of('total'), append: of('append'), own: of('own'), ratio: of('own') / of('append') });
  }
  return rows;
}
