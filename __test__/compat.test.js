/** The adapter between harness lines: found by trying, refused in one sentence. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createUserMessage } from '@deepseek-ai/dsh-llm';
import { Session } from '@deepseek-ai/dsh-session';
import { harness, probe } from '../plugin/host/compat.js';

const require = createRequire(import.meta.url);

const message = (text) => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } });

/**
 * A session class of another harness line: the mounted one behind a face that offers only what the line
 * offers.
 */
function lineOf({ events = false, eventAt = false, snapshotEvents = false, range = 'start', seq = true }) {
  return class Face {
    static create(id, seed, header) {
      return new Face(Session.create(id, seed, header));
    }

    constructor(real) {
      this.real = real;
      this.surface = real.surface;
      this.header = real.header;
      this.reads = 0;
      const define = (name, get) => Object.defineProperty(this, name, { get });
      if (events) define('events', () => real.events);
      if (seq) define('seq', () => real.seq);
      if (eventAt) {
        this.eventAt = (at) => {
          this.reads += 1;
          return real.events[at];
        };
      }
      if (snapshotEvents) this.snapshotEvents = () => real.events;
    }

    append(type, data, options) {
      const op = options?.surfaceOp;
      if (typeof op !== 'object') return this.real.append(type, data, options);
      const expected = range === 'start' ? ['op', 'start', 'end'] : ['op', 'startSeq', 'endSeq'];
      if (range === 'none' || Object.keys(op).join() !== expected.join()) {
        throw new Error(`session event "${type}" carries an invalid replace surfaceOp`);
      }
      const [, start, end] = Object.values(op);
      return this.real.append(type, data, { ...options, surfaceOp: { op: 'replace', start, end } });
    }
  };
}

function filled(Session_, count) {
  const session = Session_.create('filled');
  for (let at = 0; at < count; at += 1) {
    session.append('user/message', message(`m${at}`), { surfaceOp: 'append' });
  }
  return session;
}

test('the mounted harness is taken as it is, and a replacement made with it lands', () => {
  assert.equal(harness.refusal, undefined);
  assert.doesNotThrow(() => harness.assertSupported());
  const session = filled(Session, 3);
  assert.equal(harness.logLength(session), 3);
  assert.deepEqual(harness.events(session).map((event) => event.seq), [0, 1, 2]);
  assert.equal(harness.eventAt(session, 1), session.events[1]);
  assert.equal(harness.eventAt(session, 3), undefined);
  session.append('user/message', message('report'), {
    surfaceOp: harness.replaceOp(1, 2),
    sourceEventSeqs: [1, 2],
  });
  assert.deepEqual([...session.surface.nodes], [0, 3]);
});

test('a snapshot of the events does not grow', () => {
  const session = filled(Session, 2);
  const before = harness.events(session);
  session.append('user/message', message('later'), { surfaceOp: 'append' });
  assert.equal(before.length, 2);
  assert.equal(harness.events(session).length, 3);
});

test('the length of an inherited log part is read from the header, or from the session', () => {
  const header = { version: 0, id: 's', createdAt: 1, seedLength: 7 };
  assert.equal(harness.seedLength(Session.create('s', undefined, header)), 7);
  assert.equal(harness.seedLength({ header: {}, inheritedEventCount: 5 }), 5);
  assert.equal(harness.seedLength(Session.create('s')), 0);
});

for (const [name, line, op] of [
  ['events and start/end', { events: true }, { op: 'replace', start: 4, end: 9 }],
  [
    'events and startSeq/endSeq',
    { events: true, range: 'startSeq' },
    { op: 'replace', startSeq: 4, endSeq: 9 },
  ],
  ['eventAt alone', { eventAt: true, range: 'startSeq' }, { op: 'replace', startSeq: 4, endSeq: 9 }],
  [
    'eventAt and snapshotEvents',
    { eventAt: true, snapshotEvents: true, range: 'startSeq' },
    { op: 'replace', startSeq: 4, endSeq: 9 },
  ],
  ['both readers', { events: true, eventAt: true }, { op: 'replace', start: 4, end: 9 }],
]) {
  test(`a line with ${name} is served`, () => {
    const Line = lineOf(line);
    const adapter = probe(Line, '9.9.9');
    assert.equal(adapter.refusal, undefined);
    assert.deepEqual(adapter.replaceOp(4, 9), op);
    const session = filled(Line, 3);
    assert.equal(adapter.logLength(session), 3);
    assert.equal(adapter.eventAt(session, 2), session.real.events[2]);
    assert.deepEqual([...adapter.events(session)], [...session.real.events]);
  });
}

test('one event is read by eventAt where it exists, without copying the log', () => {
  const Line = lineOf({ events: true, eventAt: true });
  const session = filled(Line, 2);
  probe(Line, '9.9.9').eventAt(session, 0);
  assert.equal(session.reads, 1);
});

for (const [name, Line, missing] of [
  ['no way to read events', lineOf({}), 'reading events'],
  ['no known replacement', lineOf({ events: true, range: 'none' }), 'surface replacements'],
  ['no log length', lineOf({ events: true, seq: false }), 'reading events'],
  ['no session class', undefined, 'reading events'],
  ['a session class that throws', { create: () => { throw new Error('gone'); } }, 'reading events'],
]) {
  test(`a line with ${name} is refused in one sentence, at use and not at import`, () => {
    const adapter = probe(Line, '9.9.9-rc.1');
    assert.match(adapter.refusal, /dsh-session 9\.9\.9-rc\.1/);
    assert.ok(adapter.refusal.includes(missing));
    assert.equal(adapter.refusal.match(/\.(\s|$)/g).length, 1);
    assert.throws(() => adapter.assertSupported(), { message: adapter.refusal });
    if (missing === 'reading events') {
      assert.throws(() => adapter.eventAt({}, 0), { message: adapter.refusal });
      assert.throws(() => adapter.events({}), { message: adapter.refusal });
      assert.throws(() => adapter.logLength({}), { message: adapter.refusal });
    } else {
      assert.throws(() => adapter.replaceOp(0, 1), { message: adapter.refusal });
    }
  });
}

test('on such a harness the modules load, and the plugin refuses to start, naming the version', async () => {
  const strange = 'data:text/javascript,export class Session { static create() { return {}; } }';
  const plugin = new URL('../plugin/checkpoint/index.js', import.meta.url).href;
  const program = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve: (specifier, context, next) => (context.parentURL?.endsWith('/plugin/host/compat.js')
        && specifier === '@deepseek-ai/dsh-session'
        ? { url: ${JSON.stringify(strange)}, shortCircuit: true }
        : next(specifier, context)),
    });
    const { Context } = await import('@deepseek-ai/cordis');
    const ctx = new Context();
    for (const name of ['tools', 'sessions']) ctx.provide(name, {});
    const checkpoint = await import(${JSON.stringify(plugin)});
    await ctx.plugin(checkpoint).then(() => {}, (error) => process.stdout.write(error.message));
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { cwd: new URL('.', import.meta.url), timeout: 60_000 },
  );
  const { version } = require('@deepseek-ai/dsh-session/package.json');
  assert.ok(stdout.startsWith(`@dpskh/tool-rewind cannot work with dsh-session ${version}: `), stdout);
});
