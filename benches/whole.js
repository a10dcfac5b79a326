/**
 * A whole fold with an instant model: what this package itself costs beside the append it makes. The clock of
 * `session.append` and `session.events` is taken out, no meter is mounted, and the model answers at once. The
 * text work (evidence ledger and claim check, over all that the model was sent) is shown apart.
 */
import { setTimeout } from 'node:timers/promises';
import { createAssistantMessage } from '@deepseek-ai/dsh-llm';
import { Fold } from '../plugin/rewind/fold.js';
import { Config } from '../plugin/rewind/config.js';
import { follow } from '../plugin/host/abort.js';
import { observeReport } from '../plugin/host/reports.js';
import { observe } from '../plugin/host/surface.js';
import { growSession, reopen } from './sessions.js';
import { markdown, ms } from './table.js';
import { median, time } from './clock.js';

/** Milliseconds in which the collector's other threads come to rest. */
const SWEEPING = 10;
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
  // The loop derives messages and header at every step; the harness keeps both.
  session.deriveMessages();
  session.requestHeader();
  const watch = stopwatch();
  instrument(session, watch);
  globalThis.gc?.();
  // The collector goes on sweeping on threads of its own, and there are no more cores than threads.
  await setTimeout(SWEEPING);
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
  // Its garbage would be collected in the middle of the rest, so the text work runs by itself, afterwards.
  let textWork;
  const { compose } = fold;
  fold.compose = (...args) => {
    textWork = () => compose.apply(fold, args);
    return { text: REPORT, chars: REPORT.length };
  };
  // Time in which this thread works: waiting for the core's own thread is not work.
  const from = performance.eventLoopUtilization();
  const result = await fold.run();
  const { active } = performance.eventLoopUtilization(from);
  const { append = 0, events = 0 } = watch.spent;
  globalThis.gc?.();
  const text = time(textWork).ms;
  return { append, text, own: active - append - events, nodes: result.foldedNodes };
}

/** Leaves the call of the fold open at the tail, as it stands while a model folds in its turn. */
function openRewind(session) {
  const [turn, step, callId] = [100_000, 1, 'rewind-1'];
  session.append('turn/start', { turn });
  session.append('step/start', { turn, step });
  const message = createAssistantMessage({
    content: [{ type: 'tool-call', id: callId, name: 'rewind', arguments: '{}' }],
    source: { provider: 'bench', model: 'bench' },
  });
  session.append('assistant/message', { turn, step, message }, { surfaceOp: 'append', sourceEventSeqs: [] });
  session.append('tool/call', { turn, step, callId, name: 'rewind', arguments: '{}' });
}

/** @returns one row a share, on a session of 100,000 events. */
export async function measure(runs = 21) {
  const base = growSession(100_000);
  base.append('request/header', { header: { config: { provider: 'bench', model: 'bench' } }, reason: 'initial' });
  openRewind(base);
  const rows = [];
  for (const share of [0.9, 0.01]) {
    const samples = [];
    await foldOnce(base, share);
    for (let run = 0; run < runs; run += 1) samples.push(await foldOnce(base, share));
    const of = (key) => median(samples.map((sample) => sample[key]));
    const [append, own] = [of('append'), of('own')];
    rows.push({ share, nodes: samples[0].nodes, append, own, text: of('text'), ratio: own / append });
  }
  return rows;
}

/** @returns the rows as a table. */
export function table(rows) {
  return [
    'A whole fold with an instant model on 100,000 events, milliseconds',
    '',
    ...markdown(['region', 'nodes', 'the append itself', 'our own share', 'own / append', 'text work'], rows.map((row) => [
      `${row.share * 100}%`, row.nodes, ms(row.append), ms(row.own), `${Math.round(row.ratio * 100)}%`, ms(row.text),
    ])),
  ];
}

/** On the large region our own share stays within a quarter of the append; the small one is shown. */
const MOST = 0.25;

/** @returns what was not reached. */
export function missed(rows) {
  return rows.filter(({ share, ratio }) => share === 0.9 && ratio > MOST)
    .map(({ ratio }) => `own share ${Math.round(ratio * 100)}% of the append, wanted at most ${MOST * 100}%`);
}
