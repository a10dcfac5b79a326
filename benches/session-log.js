/**
 * A session log as a harness leaves it on disk after weeks of work: streamed deltas in packed rows, answers
 * that cite them, tool results of all sizes, results pruned in place, explorations folded, compactions. The
 * same seed gives the same bytes.
 */
import { closeSync, openSync, writeSync } from 'node:fs';

const WORDS = (' the file user wants to run a command and report result verbatim let me check where this is '
  + 'defined before changing anything const value = await config . map ( entry => entry . name ) ; return undefined '
  + '// because src/app/main.ts error warning line 42 of test passed in ms 文件 说明 → “quoted” \\t').split(' ');

/** A small generator of numbers from 0 to 1 (mulberry32). */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

class LogWriter {
  constructor(path, seed) {
    this.file = openSync(path, 'w');
    this.random = randomOf(seed);
    this.seq = 0;
    this.time = 1_780_000_000_000;
    this.bytes = 0;
    this.pending = [];
    this.held = 0;
    this.surface = [];
    this.facts = new Map();
  }

  line(value) {
    const text = `${JSON.stringify(value)}\n`;
    this.pending.push(text);
    this.held += text.length;
    if (this.held > 1 << 20) this.flush();
  }

  flush() {
    const chunk = Buffer.from(this.pending.join(''));
    writeSync(this.file, chunk);
    this.bytes += chunk.length;
    this.pending = [];
    this.held = 0;
  }

  event(type, data, more = {}) {
    const seq = this.seq;
    this.seq += 1;
    this.time += 1;
    this.line({ type, seq, time: this.time, data, ...more });
    return seq;
  }

  upTo(limit) {
    return Math.floor(this.random() * limit);
  }

  words(count) {
    return Array.from({ length: count }, () => ` ${WORDS[this.upTo(WORDS.length)]}`);
  }

  append(type, data, kind, sources = []) {
    const more = { ...(sources.length > 0 ? { sourceEventSeqs: sources } : {}), surfaceOp: 'append' };
    const seq = this.event(type, data, more);
    this.surface.push(seq);
    this.facts.set(seq, { kind, data });
    return seq;
  }

  replace(type, data, kind, from, to) {
    const seqs = this.surface.slice(from, to + 1);
    const [start, end] = [seqs[0], seqs.at(-1)];
    this.event('compaction/prune', { shadowedRange: { start, end }, shadowedSeqs: seqs, shadowedTokenCount: 100 });
    const seq = this.event(type, data, { sourceEventSeqs: seqs, surfaceOp: { op: 'replace', start, end } });
    this.surface.splice(from, seqs.length, seq);
    for (const taken of seqs) this.facts.delete(taken);
    this.facts.set(seq, { kind, data });
    return seq;
  }

  user(text, source = { kind: 'user' }) {
    const data = { content: [{ type: 'text', text }], source, role: 'user', id: `u-${this.seq}` };
    return this.append('user/message', data, 'user');
  }

  /** Streams one block: single deltas at its edges, packed rows between, as flushes cut them. */
  stream(turn, step, index, type, tokens, id) {
    const chunk = (value) => this.event('assistant/chunk', { turn, step, chunk: value });
    chunk({ type: 'block-start', index, blockType: type });
    let rest = tokens;
    while (rest.length > 0) {
      const part = rest.slice(0, 12 + this.upTo(60));
      rest = rest.slice(part.length);
      const data = { turn, step, index, dt: part.slice(1).map(() => (this.random() < 0.6 ? 0 : this.upTo(40))) };
      const row = { seq0: this.seq, time0: this.time };
      if (type === 'tool-call') {
        this.line({ type: 'tool-call-chunks', ...row, data: { ...data, id, name: 'tool', args: part } });
      } else {
        this.line({ type: type === 'text' ? 'text-chunks' : 'reasoning-chunks', ...row, data: { ...data, texts: part } });
      }
      this.seq += part.length;
      this.time += data.dt.reduce((sum, gap) => sum + gap, 0);
    }
    const text = tokens.join('');
    const block = type === 'tool-call' ? { type, id, name: 'tool', arguments: text } : { type, text };
    chunk({ type: 'block-end', index, block });
  }

  step(turn, step, last) {
    this.event('step/start', { turn, step });
    const from = this.seq;
    const reasoning = this.words(20 + this.upTo(120));
    this.stream(turn, step, 0, 'reasoning', reasoning);
    const content = [{ type: 'reasoning', text: reasoning.join('') }];
    if (last || this.random() < 0.3) {
      const text = this.words(10 + this.upTo(last ? 300 : 40));
      this.stream(turn, step, content.length, 'text', text);
      content.push({ type: 'text', text: text.join('') });
    }
    const calls = [];
    for (let n = last ? 0 : 1 + (this.random() < 0.25 ? this.upTo(4) : 0); n > 0; n -= 1) {
      const id = `call_${turn}_${step}_${n}`;
      const name = ['read', 'grep', 'bash', 'edit'][this.upTo(4)];
      const args = { file_path: `src/part-${this.upTo(400)}/file.ts`, pattern: 'x', command: `make t${this.upTo(40)}` };
      const text = JSON.stringify(name === 'edit' ? { ...args, new_string: this.words(60).join('') } : args);
      this.stream(turn, step, content.length, 'tool-call', text.match(/.{1,5}/gsu), id);
      content.push({ type: 'tool-call', id, name, arguments: text });
      calls.push({ id, name, text });
    }
    this.event('assistant/chunk', { turn, step, chunk: { type: 'finish', reason: { kind: last ? 'stop' : 'tool-calls' } } });
    const cited = Array.from({ length: this.seq - from }, (_, at) => from + at);
    const source = { kind: 'model', provider: 'deepseek', model: 'v' };
    const message = { role: 'assistant', content, source, id: `a-${this.seq}` };
    const usage = { inputTokens: 5_000, outputTokens: 200, cacheReadTokens: 4_000 };
    this.append('assistant/message', { turn, step, message, usage }, 'assistant', cited);
    for (const { id, name, text } of calls) {
      this.event('tool/call', { turn, step, callId: id, name, arguments: text });
    }
    for (const { id } of calls) {
      const size = this.random() < 0.1 ? 4_000 : 50 + this.upTo(500);
      const output = { type: 'text', text: this.words(size).join('').replaceAll(' return', '\n') };
      const block = { type: 'tool-result', toolCallId: id, isError: this.random() < 0.05, content: [output] };
      const result = { role: 'user', content: [block], source: { kind: 'tool', callId: id }, id: `r-${this.seq}` };
      this.append('tool/result', { turn, step, message: result }, 'result');
    }
    this.event('step/end', { turn, step });
  }

  /** Prunes results, folds the newest exploration, or compacts the head: what plugins do between steps. */
  rewrite() {
    const { surface, facts } = this;
    if (surface.length > 600) {
      this.replace('user/message', this.note('compact'), 'user', 0, this.cut(300));
      return;
    }
    const from = this.cut(surface.length - 40) + 1;
    if (this.random() < 0.5 && from < surface.length - 2) {
      this.replace('user/message', this.note('rewind'), 'user', from, surface.length - 1);
      return;
    }
    for (let at = 0; at < surface.length; at += 1) {
      const { kind, data } = facts.get(surface[at]);
      if (kind !== 'result' || this.random() > 0.05) continue;
      const [block] = data.message.content;
      const content = [{ ...block, content: [{ type: 'text', text: '[pruned]' }] }];
      this.replace('tool/result', { ...data, message: { ...data.message, content } }, 'pruned', at, at);
    }
  }

  note(plugin) {
    const text = this.words(200).join('');
    return { content: [{ type: 'text', text }], source: { kind: 'plugin', plugin }, role: 'user', id: `n-${this.seq}` };
  }

  /** The last place at or before `at` behind which no call is open. */
  cut(at) {
    let place = Math.max(0, at);
    while (place > 0 && this.facts.get(this.surface[place + 1])?.kind !== 'assistant') place -= 1;
    return place;
  }
}

/**
 * Writes a log.
 *
 * @param path - the file to write.
 * @param bytes - its size, at least.
 * @param seed - same seed, same bytes.
 */
export function writeLog(path, bytes, seed = 1) {
  const log = new LogWriter(path, seed);
  log.line({ type: 'session', version: 0, id: 'bench', createdAt: log.time, cwd: '/tmp', delegationDepth: 0 });
  for (let turn = 1; log.bytes < bytes; turn += 1) {
    log.event('turn/start', { turn });
    log.user(log.words(30).join(''));
    const steps = 3 + log.upTo(20);
    for (let step = 1; step <= steps; step += 1) log.step(turn, step, step === steps);
    log.event('turn/end', { turn, reason: { kind: 'completed' } });
    if (turn % 3 === 0) log.rewrite();
  }
  log.flush();
  closeSync(log.file);
}
