/**
 * Plays a recipe on a real session. A recipe is a list of small arrays, each of which means something
 * wherever it stands (an answer without an open call is simply passed over), so that any part of a recipe is
 * a recipe and a failure can be shrunk by leaving parts out. Every event goes through the real `append`, with
 * the harness's own companions listening, so a played session is one that a live harness could have written.
 */
import { interruptedTurnClosers } from '@deepseek-ai/dsh-session';
import { isPersons } from './oracle.js';
import { textOf } from './random.js';
import { callsIn, resultIn } from './wire.js';

const text = (words) => ({ type: 'text', text: words });
const image = (id) => ({
  type: 'image',
  attachment: {
    attachmentId: `sha256:${id}`,
    mediaType: 'image/png',
    bytes: 69,
    width: 1,
    height: 1,
    ...(id % 3 === 0 ? {} : { name: `shot-${id}.png` }),
  },
});

/** One session on the stage, with the marks that were taken in it. */
export class Stage {
  /**
   * @param ctx - a context that carries the session store.
   * @param id - the id of the first session; forks and resumed ones derive theirs from it.
   */
  constructor(ctx, id) {
    this.ctx = ctx;
    this.id = id;
    this.made = 0;
    this.marks = [];
    this.enter(id);
  }

  /** Opens a session in the store under a new id; the one before it leaves the store. */
  enter(id, options) {
    this.detach?.();
    this.session = this.ctx.sessions.prepare(id, options);
    this.detach = this.ctx.sessions.enter(this.session);
    this.ctx.sessions.announce(this.session);
    this.turn = this.session.events.filter(({ type }) => type === 'turn/start').length;
    this.turnOpen = false;
    this.step = 0;
    this.stepOpen = false;
    this.calls = [];
  }

  /** Takes the session out of the store. */
  leave() {
    this.detach();
  }

  message(role, content, source) {
    this.made += 1;
    return { id: `${this.id}-m${this.made}`, role, content, source };
  }

  append(type, data, options) {
    return this.session.append(type, data, ...(options ? [options] : []));
  }

  /** Plays one operation. */
  play([name, ...rest]) {
    this[`on_${name}`](...rest);
  }

  openTurn() {
    if (this.turnOpen) return;
    this.turn += 1;
    this.step = 0;
    this.turnOpen = true;
    this.append('turn/start', { turn: this.turn });
  }

  closeStep() {
    if (!this.stepOpen) return;
    this.append('step/end', { turn: this.turn, step: this.step });
    this.stepOpen = false;
    this.calls = [];
  }

  on_turn() {
    this.on_end();
    this.openTurn();
  }

  on_end(kind = 'completed') {
    this.closeStep();
    if (!this.turnOpen) return;
    this.turnOpen = false;
    this.append('turn/end', { turn: this.turn, reason: { kind } });
  }

  /** The session's own route, as the loop logs it before a request. */
  on_header(spec) {
    this.openTurn();
    const tools = [{ name: 'read', description: 'Reads.', parameters: { type: 'object', properties: {} } }];
    const config = { provider: 'laws', model: 'laws-1' };
    this.append('request/header', { header: { config, system: textOf(spec), tools }, reason: 'change' });
  }

  /** A person: a prompt, or a steering message at any moment. */
  on_user(spec, withImage = false) {
    const content = [...(withImage ? [image(this.made)] : []), text(textOf(spec))];
    this.append('user/message', this.message('user', content, { kind: 'user' }), { surfaceOp: 'append' });
  }

  /** A plugin speaks: injected context, a reminder, the guard. */
  on_plug(plugin, spec) {
    const message = this.message('user', [text(textOf(spec))], { kind: 'plugin', plugin });
    this.append('user/message', message, { surfaceOp: 'append' });
  }

  /** The model speaks: `{ t?, r?, calls? }`; calls are `[id, name, arguments]`. Opens a step of its own. */
  on_say({ t, r, calls = [] }) {
    this.closeStep();
    this.openTurn();
    this.step += 1;
    this.stepOpen = true;
    const { turn, step } = this;
    this.append('step/start', { turn, step });
    const content = [
      ...(r === undefined ? [] : [{ type: 'reasoning', text: textOf(r) }]),
      ...(t === undefined ? [] : [text(textOf(t))]),
      ...calls.map(([id, called, args]) => ({
        type: 'tool-call',
        id,
        name: called,
        arguments: textOf(args),
      })),
    ];
    const message = this.message('assistant', content, { kind: 'model', provider: 'laws', model: 'laws-1' });
    const { seq } = this.append('assistant/message', { turn, step, message }, { surfaceOp: 'append' });
    this.calls = callsIn(message).map(({ id, name, arguments: args }) => ({
      id,
      name,
      args,
      carrier: seq,
      started: false,
    }));
  }

  /** Logs a call as started, once. */
  start(call) {
    if (call.started) return;
    call.started = true;
    this.append('tool/call', {
      turn: this.turn,
      step: this.step,
      callId: call.id,
      name: call.name,
      arguments: call.args,
    });
  }

  /** Answers the `k`-th open call that is not the rewind in flight. */
  on_res(k, spec, how) {
    const open = this.calls.filter(({ name }) => name !== 'rewind');
    if (open.length > 0) this.answer(open[k % open.length].id, spec, how);
  }

  /** Answers the first open call of that id; `{ image?, error?, blocks? }`, `blocks` further texts. */
  answer(id, spec, { image: withImage = false, error = false, blocks = [] } = {}) {
    const [call] = this.calls.splice(
      this.calls.findIndex((one) => one.id === id),
      1,
    );
    this.start(call);
    const { turn, step } = this;
    const content = [
      ...(spec === null ? [] : [text(textOf(spec))]),
      ...(withImage ? [image(this.made)] : []),
      ...blocks.map((more) => text(textOf(more))),
    ];
    const block = { type: 'tool-result', toolCallId: id, content, isError: error };
    const message = this.message('user', [block], { kind: 'tool', callId: id });
    const failure = error ? { error: { name: 'ToolError', code: 'FAILED' } } : {};
    const meta = { made: this.made, nested: ['kept', null] };
    this.append('tool/result', { turn, step, message, meta, ...failure }, { surfaceOp: 'append' });
    // The session companion keeps one running call an id: a twin that is still open starts anew.
    for (const twin of this.calls) if (twin.id === id) twin.started = false;
  }

  /**
   * Takes a mark: inside the `k`-th open call (`known`: the mark carries its id), or outside any (`k` null).
   */
  on_mark(k, known = true) {
    const call = k === null || this.calls.length === 0 ? undefined : this.calls[k % this.calls.length];
    if (call) this.start(call);
    this.marks.push({
      id: this.marks.length + 1,
      logLength: this.session.seq,
      ...(call && known ? { callId: call.id } : {}),
    });
    this.onMark?.(this);
  }

  /** A pruner shortens the `k`-th result on the surface, in place. Needs an open turn, as in the harness. */
  on_prune(k, spec) {
    const { events } = this.session;
    const results = this.session.surface.nodes.filter((seq) => events[seq].type === 'tool/result');
    if (results.length === 0 || !this.turnOpen) return;
    const seq = results[k % results.length];
    const { data } = events[seq];
    const { content } = resultIn(data.message);
    const kept = content.filter(({ type }) => type !== 'text');
    this.rewrite(seq, [text(textOf(spec)), ...kept]);
  }

  /** Replaces the content of one result and nothing else of it. */
  rewrite(seq, content) {
    const { data } = this.session.events[seq];
    const [block] = data.message.content;
    this.append(
      'tool/result',
      { ...data, message: { ...data.message, content: [{ ...block, content }] } },
      {
        surfaceOp: { op: 'replace', start: seq, end: seq },
        sourceEventSeqs: [seq],
      },
    );
  }

  /**
   * Cuts of the surface that no pair crosses; a dead call crosses nothing, an open one everything after it.
   */
  cuts() {
    const {
      events,
      surface: { nodes },
    } = this.session;
    const running = new Set(this.calls.map(({ carrier }) => carrier));
    const cuts = [0];
    for (let cut = 1; cut <= nodes.length; cut += 1) {
      if (nodes.slice(0, cut).some((seq) => running.has(seq))) break;
      const ids = (seqs) =>
        seqs.flatMap((seq) =>
          events[seq].type === 'tool/result' ? [resultIn(events[seq].data.message).callId] : [],
        );
      const carrier = nodes.slice(0, cut).findLastIndex((seq) => events[seq].type === 'assistant/message');
      const next = nodes.findIndex((seq, at) => at >= cut && events[seq].type === 'assistant/message');
      const late = ids(nodes.slice(cut, next < 0 ? nodes.length : next));
      const open = carrier < 0 ? [] : callsIn(events[nodes[carrier]].data.message).map(({ id }) => id);
      for (const id of ids(nodes.slice(carrier + 1, cut)))
        if (open.includes(id)) open.splice(open.indexOf(id), 1);
      if (!late.some((id) => open.includes(id))) cuts.push(cut);
    }
    return cuts;
  }

  /** Puts one message in the place of the nodes between two legal cuts, chosen by two fractions. */
  shadow(from, to, source, spec, around) {
    const cuts = this.cuts();
    const [low, high] = [from, to]
      .map((share) => cuts[Math.floor(share * (cuts.length - 1))])
      .toSorted((a, b) => a - b);
    const shadowed = this.session.surface.nodes.slice(low, high);
    if (shadowed.length === 0) return;
    const range = { start: shadowed[0], end: shadowed.at(-1) };
    const land = (kept = []) =>
      this.append('user/message', this.message('user', [...kept, text(textOf(spec))], source), {
        surfaceOp: { op: 'replace', ...range },
        sourceEventSeqs: shadowed,
      });
    around(range, shadowed, land);
  }

  /** The harness compacts a part of the surface, in its own bracket. */
  on_compact(from, to, spec) {
    this.made += 1;
    const compactionId = `${this.id}-c${this.made}`;
    const turn = this.turnOpen ? this.turn : null;
    this.shadow(
      from,
      to,
      { kind: 'plugin', plugin: 'compact', compactionId },
      spec,
      (range, shadowed, land) => {
        this.append('compaction/start', { compactionId, turn });
        this.append('compaction/summary', {
          compactionId,
          summary: [text('summary')],
          shadowedRange: range,
          shadowedSeqs: shadowed,
          shadowedTokenCount: 1,
          provider: 'laws',
          model: 'laws-1',
        });
        land();
        this.append('compaction/end', { compactionId, turn });
      },
    );
  }

  /**
   * Another part of the package stands in for a stretch: a turn's checkpoint keeps people's words, a receipt
   * no person.
   */
  on_replace(from, to, source, spec) {
    this.shadow(from, to, source, spec, (range, shadowed, land) => {
      const messages = shadowed
        .map((seq) => this.session.events[seq])
        .filter(({ type }) => type === 'user/message');
      const said = messages.filter(isPersons).flatMap(({ data }) => data.content);
      const quoted = messages.flatMap(({ data }) => data.source.quotes ?? []).map(text);
      if (source.plugin === 'turn-memory') land([...said, ...quoted]);
      else if (!messages.some(isPersons)) land();
    });
  }

  /** A person forks the session at its last quiet moment; the marks taken before that come along. */
  on_fork() {
    this.on_end();
    const seed = this.session.events;
    const parent = this.session.id;
    this.enter(`${this.id}-f${seed.length}`, {
      seed,
      meta: { parentSession: parent, seedLength: seed.length },
    });
  }

  /**
   * The process dies here and the session is resumed: open calls get synthetic answers, the turn is closed.
   */
  on_crash() {
    const { events, header } = this.session;
    const seed = [...events, ...interruptedTurnClosers(events)];
    this.enter(`${this.id}-r${seed.length}`, { seed, meta: { createdAt: header.createdAt } });
  }
}
