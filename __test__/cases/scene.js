/**
 * A session told in the notation of the cases, folded by the package's own service. Every fold and every
 * refusal in a scene is also held to all the laws and to the oracle, so a case asserts only what it is about.
 *
 *   U(text)  P(plugin, text)  A({ t, r }, call('c1', 'read', args))  R('c1', text, { image, error })
 *   MARK()   a mark taken in the open checkpoint call, or outside any call
 */
import assert from 'node:assert/strict';
import * as rewind from '../../index.js';
import { foldBreaches, owedQuotes, refusalBreaches, snapshot, surfaceBreaches } from '../laws/checks.js';
import { isPersons, oracle } from '../laws/oracle.js';
import { ForeignCheckpoint } from '../laws/service.js';
import { Stage } from '../laws/stage.js';
import { messageOf, resultIn, wireFaults } from '../laws/wire.js';
import { createLoop, ROUTE } from '../support/loop.js';
import { always, say } from '../support/script.js';

/** The words of a report where a case does not care about them. */
export const REPORT = 'It was looked into. Nothing else matters.';

/**
 * @param id - the call's id.
 * @param name - the tool's name.
 * @param args - the arguments as the model wrote them.
 * @returns a tool call for `A`.
 */
export const call = (id, name = 'read', args = '{}') => [id, name, args];

let scenes = 0;

/** One session and the composition around it. */
export class Scene {
  during = undefined;
  known = new Map();

  constructor(loop) {
    scenes += 1;
    this.loop = loop;
    this.ctx = loop.ctx;
    this.stage = new Stage(loop.ctx, `scene-${scenes}`);
  }

  get session() {
    return this.stage.session;
  }

  get requests() {
    return this.loop.requests;
  }

  U(text, image = false) {
    this.stage.on_user(text, image);
    return this;
  }

  P(plugin, text) {
    this.stage.on_plug(plugin, text);
    return this;
  }

  /** The model speaks, in a step of its own. */
  A(words, ...calls) {
    const { t, r } = words ?? {};
    this.stage.on_say({ ...(t === undefined ? {} : { t }), ...(r === undefined ? {} : { r }), calls });
    return this;
  }

  R(id, text = 'ok', how = {}) {
    this.stage.answer(id, text, how);
    return this;
  }

  /** Calls and answers in one: `A{id} R(id)`. */
  step(id, text = 'a line of a file\n'.repeat(60), args = '{}') {
    return this.A({}, call(id, 'read', args)).R(id, text);
  }

  MARK(at = 0) {
    this.stage.on_mark(this.stage.calls.length === 0 ? null : at);
    return this;
  }

  /** `A{cp} MARK R(cp)`, the usual way into an exploration. */
  checkpoint(id = 'cp') {
    return this.A({}, call(id, 'checkpoint')).MARK().R(id);
  }

  /** `A{rw}`, the rewind call in flight. */
  RW(...siblings) {
    return this.A({}, ...siblings, call('rw', 'rewind'));
  }

  idle() {
    this.stage.on_end();
    return this;
  }

  /** Plays an operation of the generator's own language. */
  play(...op) {
    this.stage.play(op);
    return this;
  }

  get mark() {
    return this.stage.marks.at(-1);
  }

  /** @returns the surface in the notation of the cases; reports, pointers and rewritten siblings by name. */
  get surface() {
    const {
      events,
      surface: { nodes },
    } = this.session;
    return nodes.map((seq) => nameOf(events[seq])).join(' ');
  }

  /** @returns the text of each surface node. */
  get texts() {
    const {
      events,
      surface: { nodes },
    } = this.session;
    return nodes.map((seq) => textOf(events[seq]));
  }

  agent(session = this.session) {
    return { id: session.id, session, options: { ...ROUTE }, ctx: this.ctx };
  }

  /** Asks the service, laws left aside. */
  ask(signal = new AbortController().signal) {
    this.ctx.checkpoint.stages.set(this.session.id, this.stage);
    return this.ctx.rewind.rewind(this.agent(), signal);
  }

  /** A fold that has to succeed, with every law around it; resolves to its result. */
  async fold(signal) {
    const before = snapshot(this.session);
    const plan = oracle(before.events, before.nodes, this.mark);
    assert.equal(plan.code, undefined, `the oracle refuses: ${plan.code} ${plan.seq ?? ''}`);
    const carried = owedQuotes(before.events, plan, this.known);
    let atCommit = before;
    this.loop.atAnswer = () => {
      this.during?.();
      atCommit = snapshot(this.session);
    };
    const from = this.requests.length;
    const result = await this.ask(signal);
    this.judgeRequests(from);
    const after = snapshot(this.session);
    const meter = this.ctx.get('tokenMeter');
    const facts = { atCommit, after, plan, mark: this.mark, result, meter, carried };
    assert.deepEqual([...foldBreaches(facts), ...surfaceBreaches(after)], []);
    this.known.set(atCommit.events.length + (meter ? 1 : 0), carried);
    this.report = after.events[atCommit.events.length + (meter ? 1 : 0)];
    return result;
  }

  /** A fold that has to be refused with `code`; resolves to the error. Log and surface are as they were. */
  async refuse(code, { planned = true, signal } = {}) {
    const before = snapshot(this.session);
    const plan = this.mark ? oracle(before.events, before.nodes, this.mark) : { code: 'NO_CHECKPOINT' };
    if (planned) assert.equal(plan.code, code, 'the oracle decides otherwise');
    let atCommit = before;
    this.loop.atAnswer = () => {
      this.during?.();
      atCommit = snapshot(this.session);
    };
    const from = this.requests.length;
    const error = await this.ask(signal).then(
      () => assert.fail('the fold was not refused'),
      (reason) => reason,
    );
    assert.equal(error.code, code, error.message);
    this.judgeRequests(from);
    assert.deepEqual(refusalBreaches(atCommit, snapshot(this.session)), []);
    if (planned) assert.equal(this.requests.length, from, 'the model was asked for a fold that cannot be');
    return error;
  }

  judgeRequests(from) {
    for (const { options } of this.requests.slice(from)) {
      assert.deepEqual(wireFaults(options.messages, { closed: true }), []);
    }
  }

  /** Messages of the surface are what a provider takes; a call that is still running aside. */
  assertWireValid() {
    assert.deepEqual(wireFaults(this.session.deriveMessages()), []);
  }
}

function textOf(event) {
  const message = messageOf(event);
  const blocks = message === null ? [] : (resultIn(message)?.content ?? message.content);
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function nameOf(event) {
  if (event.type === 'user/message') {
    const { plugin, markId } = event.data.source;
    if (plugin === 'rewind') return `REPORT${markId}`;
    if (plugin === 'rewind-pointer') return `POINTER${markId}`;
    return isPersons(event) && plugin === undefined ? 'U' : `P[${plugin}]`;
  }
  if (event.type === 'assistant/message') {
    return `A{${event.data.message.content
      .filter(({ type }) => type === 'tool-call')
      .map(({ id }) => id)
      .join(',')}}`;
  }
  const [, report] = /^\[rewind report of mark (\d+)\]/.exec(textOf(event)) ?? [];
  const rewritten = event.surfaceOp !== 'append';
  return `R(${resultIn(event.data.message).callId}${report ? `=REPORT${report}` : rewritten ? '*' : ''})`;
}

/**
 * Sets a scene up.
 *
 * @param t - the test; the composition goes with it.
 * @param options - `report`: the steps of the model that writes reports; `config` of the entry plugin;
 * `meter`; `model`: what the model is able to do.
 * @returns a promise of the scene.
 */
export async function scene(t, { report = always(say(REPORT)), config = {}, meter = true, model } = {}) {
  const state = {};
  const loop = await createLoop({
    meter,
    model,
    steps: { report },
    gate: () => state.loop.atAnswer?.(),
    before: (ctx) => ctx.plugin(ForeignCheckpoint),
    plugins: [[rewind, config]],
  });
  state.loop = loop;
  t.after(() => loop.dispose());
  return new Scene(loop);
}
