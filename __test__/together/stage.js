/** Fold, marks, recall, pruner and turn memory beside the real pruner and compaction, in one composition. */
import { BasicCompactionEngine } from '@deepseek-ai/dsh-compaction-basic';
import { ToolResultPruner } from '@deepseek-ai/dsh-compaction-tool-result-pruner';
import * as rewind from '../../index.js';
import * as checkpoint from '../../plugin/checkpoint/index.js';
import * as prune from '../../plugin/prune/index.js';
import * as recall from '../../plugin/recall/index.js';
import { act, always, call, say } from '../support/script.js';
import { textOf } from '../support/wire.js';
import { MATCH, accounts, stage, toWrite } from '../turn-memory/stage.js';

export const REPORT = 'It is in the second file. Nothing is open.';

/** Which requests are whose; a compaction says so itself. */
const LANES = { compact: ({ options }) => options.purpose === 'compaction', ...MATCH };

/** A draft's worker: writes every part in one step, then is done. */
function worker(request) {
  const { messages } = request.options;
  const instruction = messages.map(({ content }) => textOf(content))
    .findLast((text) => text.startsWith('[turn memory]'));
  if (messages.at(-1).content.some(({ type }) => type === 'tool-result')) return say('DONE');
  return act(toWrite(instruction).map((id) => (
    call(`w${id}-${messages.length}`, 'draft_replace_segment', { id, content: `Account of part ${id}.` }))));
}

/** Settings under which short sessions meet both layers: everything old or superseded is stale. */
export const PRUNE = {
  judge: 'rules', softLimit: '1', compactSoftLimit: '1', keepMode: 'absolute', compactMode: 'absolute',
  preserveRecent: 2, headChars: 100, tailChars: 50, compactMinChars: 300, receiptMaxRatio: 1,
};

/**
 * Mounts all of it.
 *
 * @param t - the test.
 * @param options - `main`: the model's steps; `rows`: configurations by plugin (`rewind`, `prune`, `memory`,
 *   `compaction`); `window` in tokens; the rest goes to the stage of turn memory.
 * @returns a promise of the loop.
 */
export function together(t, { main = [], rows = {}, window = 200_000, steps = {}, plugins = [], ...more } = {}) {
  return stage(t, {
    match: LANES,
    model: { context: { contextWindow: window } },
    config: rows.memory ?? {},
    plugins: [
      [ToolResultPruner, {}],
      [BasicCompactionEngine, rows.compaction ?? { auto: false }],
      [rewind, rewind.Config(rows.rewind ?? {})],
      [checkpoint, checkpoint.Config({})],
      [recall, recall.Config({})],
      [prune, prune.Config({ ...PRUNE, ...rows.prune })],
      ...plugins,
    ],
    steps: {
      main,
      report: always(say(REPORT)),
      compact: always(say('What went before, in short.')),
      summary: always(accounts()),
      worker: always(worker),
      ...steps,
    },
    ...more,
  });
}
