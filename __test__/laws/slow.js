/**
 * A fold without the package: the oracle's plan, landed in the plainest way. It stands where the service
 * stands, so that generator, oracle and laws can be tried on one another; and with a `sabotage` it breaks one
 * law at a time, to show that the laws notice.
 */
import { oracle } from './oracle.js';
import { messageOf, resultIn } from './wire.js';

const block = (text) => [{ type: 'text', text }];

function reportText(plan, reply, carried) {
  const quotes = carried.map(({ text, images }) =>
    [...images, ...text.split('\n')].map((line) => `> ${line}`).join('\n'),
  );
  return [reply, ...(quotes.length ? ['## What a person said meanwhile', quotes.join('\n\n')] : [])].join(
    '\n',
  );
}

/** Folds a stage's session the slow way. */
export class SlowFold {
  /** @param sabotage - `(name, value)` called with each intermediate value; returns what to use instead. */
  constructor({ meter, sabotage = (name, value) => value } = {}) {
    this.meter = meter;
    this.sabotage = sabotage;
  }

  tokens(events, seqs) {
    return seqs.reduce((sum, seq) => {
      const message = messageOf(events[seq]);
      return sum + (message === null ? 0 : this.meter.estimateMessage(message));
    }, 0);
  }

  /** Lands one replacement, its price first. */
  land(session, shadowed, type, data) {
    const range = { start: shadowed[0], end: shadowed.at(-1) };
    if (this.meter) {
      session.append('compaction/prune', {
        shadowedRange: range,
        shadowedSeqs: shadowed,
        shadowedTokenCount: this.tokens(session.events, shadowed),
      });
    }
    return session.append(type, data, { surfaceOp: { op: 'replace', ...range }, sourceEventSeqs: shadowed });
  }

  /**
   * @param stage - the stage.
   * @param mark - the latest mark.
   * @param planned - the oracle's plan.
   * @param reply - the model's words.
   * @param carried - what the report owes to people.
   * @returns the result of the fold, or `{ code: 'SHRINK', message }`.
   */
  fold(stage, mark, planned, reply, carried) {
    const { session } = stage;
    const plan = this.sabotage('plan', planned, session);
    const words = this.sabotage('report', reportText(plan, reply, carried));
    const source = (plugin) => ({ kind: 'plugin', plugin, markId: mark.id });
    const content = (seq, text) => {
      const { data } = session.events[seq];
      const [result] = data.message.content;
      return { ...data, message: { ...data.message, content: [{ ...result, content: block(text) }] } };
    };
    const pointer = `[folded: see the report of mark ${mark.id} below]`;
    const edits = this.sabotage('edits', [
      ...(plan.carrying === undefined
        ? [
            [
              plan.segments.at(-1),
              'user/message',
              () => stage.message('user', block(words), source('rewind')),
            ],
          ]
        : [
            [
              [plan.carrying],
              'tool/result',
              () => content(plan.carrying, `[rewind report of mark ${mark.id}]\n${words}`),
            ],
          ]),
      ...plan.segments
        .slice(0, -1)
        .map((seqs) => [
          seqs,
          'user/message',
          () => stage.message('user', block(pointer), source('rewind-pointer')),
        ]),
      ...plan.siblings
        .filter((seq) => seq !== plan.carrying)
        .map((seq) => [[seq], 'tool/result', () => content(seq, pointer)]),
    ]);
    const chars = (made) => (made.message ? resultIn(made.message).content : made.content)[0].text.length;
    const made = edits.map(([seqs, type, make]) => [seqs, type, make()]);
    const reportChars = made.reduce((sum, [, , data]) => sum + chars(data), 0);
    const tokens = this.meter && {
      foldedTokens: this.tokens(session.events, plan.folded),
      reportTokens: made.reduce(
        (sum, [, , data]) => sum + this.meter.estimateMessage(data.message ?? data),
        0,
      ),
    };
    const grew = plan.foldedChars > 0 && reportChars >= plan.foldedChars;
    if (grew || (tokens && tokens.reportTokens >= tokens.foldedTokens)) {
      return { code: 'SHRINK', message: `${reportChars} against ${plan.foldedChars}` };
    }
    for (const [seqs, type, data] of made) this.land(session, seqs, type, data);
    const { foldedNodes, start, end, foldedChars } = plan;
    return this.sabotage('result', {
      markId: mark.id,
      foldedNodes,
      start,
      end,
      foldedChars,
      reportChars,
      ...tokens,
    });
  }
}

/**
 * @param slow - a {@link SlowFold}.
 * @returns a driver for `playRecipe` that answers as the service would.
 */
export function slowDriver(slow) {
  const stopped = new Error('stopped');
  return {
    latestMark: async (stage) => stage.marks.at(-1),
    async fold(stage, { mark, spec, reply, carried, during }) {
      const { session } = stage;
      const requests = [];
      const at = () => ({ events: session.events, nodes: [...session.surface.nodes] });
      const refuse = (code, message = code) => ({
        error: Object.assign(new Error(`${message}; go on`), { code }),
        requests,
        atCommit: at(),
      });
      if (!mark) return refuse('NO_CHECKPOINT');
      const plan = oracle(session.events, session.surface.nodes, mark);
      if (plan.code) return refuse(plan.code, `at ${plan.seq}`);
      requests.push({
        ...session.requestHeader(),
        messages: [{ role: 'user', content: block('report, please') }],
      });
      const length = session.seq;
      during();
      if (spec.reply.abort) return { error: stopped, stopped, requests, atCommit: at() };
      if (spec.reply.fail || spec.reply.empty > 2 || reply.trim() === '') return refuse('SUMMARY_FAILED');
      const { events, nodes } = at();
      const older = nodes.filter((seq) => seq < length || events[seq].surfaceOp !== 'append');
      const again = oracle(events, older, mark);
      if (stage.marks.at(-1) !== mark || String(again.folded) !== String(plan.folded))
        return refuse('CHANGED');
      const atCommit = at();
      const result = slow.fold(stage, mark, plan, reply, carried);
      return result.code ? refuse(result.code, result.message) : { result, requests, atCommit };
    },
  };
}
