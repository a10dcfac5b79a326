/**
 * A session laid out by hand on the real store, companions and meter, with the fold service over it and a
 * checkpoint provider that says whatever the test wants. Every event goes through the real `append`.
 *
 * @example
 *   const scene = await sceneOf(t);
 *   scene.person('look around');
 *   scene.mark();                            // A{cp} MARK R(cp)
 *   const [call, result] = scene.look('c1'); // A{c1:read} R(c1)
 *   scene.rewind();                          // A{rw}, in flight
 *   const { start, end } = await scene.fold();
 */
import assert from 'node:assert/strict';
import * as rewind from '../../index.js';
import { holder } from '../../plugin/host/lock.js';
import { Stage } from '../laws/stage.js';
import { ROUTE, createLoop } from '../support/loop.js';
import { say } from '../support/script.js';
import { textOf } from '../support/wire.js';

/** The words of the scripted model. */
export const REPORT = 'The port is set in src/a.rs:42.';
/** The output of a tool where a test does not say otherwise. */
export const OUTPUT = 'a line that nobody needs afterwards\n'.repeat(40);

const text = (words) => [{ type: 'text', text: words }];

/** A provider of `ctx.checkpoint`: `mark` is what it answers, `told` whom it was told about. */
export class Provider {
  mark = undefined;
  told = [];

  async latestMark() {
    return this.mark;
  }

  async hasActive() {
    return this.mark !== undefined && !this.mark.foldedAt;
  }

  async completeFold(sessionId, markId) {
    this.told.push([sessionId, markId]);
  }
}

/** One session under way. */
export class Scene extends Stage {
  constructor(loop, provider, id) {
    super(loop.ctx, id);
    this.loop = loop;
    this.provider = provider;
    this.agent = { id, session: this.session, options: { ...ROUTE }, ctx: loop.ctx };
  }

  get last() {
    return this.session.seq - 1;
  }

  /** A person speaks; images go in front of the words. @returns the seq. */
  person(words, ...images) {
    const content = [...images, ...text(words)];
    this.append('user/message', this.message('user', content, { kind: 'user' }), { surfaceOp: 'append' });
    return this.last;
  }

  /** A plugin speaks. @returns the seq. */
  plugin(name, words, source = {}) {
    const message = this.message('user', text(words), { kind: 'plugin', plugin: name, ...source });
    this.append('user/message', message, { surfaceOp: 'append' });
    return this.last;
  }

  /** The model speaks: `{ t, r, calls: [[id, name, arguments]] }`, in a step of its own. @returns the seq. */
  says(what) {
    this.on_say(what);
    return this.last;
  }

  /** The result of an open call. @returns the seq. */
  result(id, output = OUTPUT, how = {}) {
    this.answer(id, output, how);
    return this.last;
  }

  /** One call of a tool and its result. @returns both seqs. */
  look(id, output = OUTPUT) {
    return [this.says({ t: `step ${id}`, calls: [[id, 'read', '{"path":"a"}']] }), this.result(id, output)];
  }

  /** Takes a mark now. @returns it. */
  take(more = {}) {
    this.provider.mark = { id: this.marks.length + 1, logLength: this.session.seq, ...more };
    this.marks.push(this.provider.mark);
    return this.provider.mark;
  }

  /** A message with the checkpoint call alone, its mark and its result. @returns the mark. */
  mark(more = {}) {
    this.says({ calls: [['cp', 'checkpoint', '{}']] });
    this.start(this.calls[0]);
    const mark = this.take({ callId: 'cp', ...more });
    this.result('cp', 'marked');
    return mark;
  }

  /** The message with the rewind call, in flight. @returns the seq. */
  rewind() {
    const seq = this.says({ t: 'done looking', calls: [['rw', 'rewind', '{}']] });
    this.start(this.calls[0]);
    return seq;
  }

  /** Puts one message of a plugin in the place of a run of nodes. @returns the seq. */
  replace(start, end, words, source) {
    const { nodes } = this.session.surface;
    const shadowed = nodes.slice(nodes.indexOf(start), nodes.indexOf(end) + 1);
    this.append('user/message', this.message('user', text(words), { kind: 'plugin', ...source }), {
      surfaceOp: { op: 'replace', start, end }, sourceEventSeqs: shadowed,
    });
    return this.last;
  }

  /** The harness compacts a run of nodes, in its own bracket. @returns the summary's seq. */
  compact(start, end, words) {
    const { nodes } = this.session.surface;
    const shadowedSeqs = nodes.slice(nodes.indexOf(start), nodes.indexOf(end) + 1);
    const compactionId = `compaction-${this.session.seq}`;
    this.append('compaction/start', { compactionId, turn: this.turn });
    this.append('compaction/summary', {
      compactionId, summary: text(words), shadowedRange: { start, end }, shadowedSeqs, shadowedTokenCount: 1, ...ROUTE,
    });
    const seq = this.replace(start, end, words, { plugin: 'compact', compactionId });
    this.append('compaction/end', { compactionId, turn: this.turn });
    return seq;
  }

  /** Shortens one result in place, as a pruner does. @returns the seq. */
  prune(seq, words) {
    this.rewrite(seq, text(words));
    return this.last;
  }

  /** Asks for a fold. */
  fold(signal = new AbortController().signal) {
    return this.ctx.rewind.rewind(this.agent, signal);
  }

  /** Asks for a fold that must be refused; nothing may be written, and the lock must be free. @returns the error. */
  async refused(signal) {
    const written = () => JSON.stringify([this.session.events, this.session.surface.nodes]);
    const before = written();
    let error;
    await assert.rejects(this.fold(signal), (thrown) => {
      error = thrown;
      return true;
    });
    assert.ok(written() === before, 'something was written');
    assert.equal(holder(this.session), undefined, 'the lock is held');
    return error;
  }

  /** The surface as events, in the order in which the model sees them. */
  nodes() {
    const { events } = this.session;
    return this.session.surface.nodes.map((seq) => events[seq]);
  }

  /** What a surface event says, results included. */
  words(seq) {
    const { type, data } = this.session.events[seq];
    if (type === 'user/message') return textOf(data.content);
    return textOf(type === 'tool/result' ? data.message.content[0].content : data.message.content);
  }

  /** The one report message on the surface. */
  report() {
    const found = this.nodes().filter(({ type, data }) =>
      type === 'user/message' && rewind.isRewindReportSource(data.source));
    assert.equal(found.length, 1, 'one report stands on the surface');
    return found[0];
  }

  /** The requests for a report so far. */
  get asked() {
    return this.loop.adapter.of('report');
  }
}

/**
 * Mounts the composition and opens a session in a running turn.
 *
 * @param t - the test, which disposes the composition.
 * @param options - `report`: the model's answers; `config`: the entry plugin's row; the rest as `createLoop`.
 * @returns a promise of the scene.
 */
export async function sceneOf(t, { report = [say(REPORT)], config = {}, match, ...options } = {}) {
  const provider = new Provider();
  const loop = await createLoop({
    steps: { report },
    match: { report: ({ maxTokens }) => maxTokens <= 4096, ...match },
    before: (ctx) => ctx.provide('checkpoint', provider),
    plugins: [[rewind, config]],
    ...options,
  });
  t.after(() => loop.dispose());
  const scene = new Scene(loop, provider, 'scene');
  scene.on_turn();
  return scene;
}

/**
 * Waits until something has come about, which an honest run does at once.
 *
 * @param condition - asked again each turn of the event loop.
 * @throws after half a minute, so that a run that never gets there fails and ends.
 */
export async function until(condition) {
  const end = Date.now() + 30_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`it never came about: ${condition}`);
    await new Promise(setImmediate);
  }
}

/** @returns an image block as the harness stores it. */
export function image(name, mediaType = 'image/png') {
  return {
    type: 'image',
    attachment: { attachmentId: `sha256:${name ?? 'none'}`, mediaType, bytes: 69, width: 1, height: 1, ...(name && { name }) },
  };
}
