/**
 * What this plugin writes to files, all of it asked for by the configuration, all of it best effort, nothing of
 * it in the person's workspace: the trace, the prefix dump, raw copies.
 */
import { appendFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dshHome, pathInHome } from '../host/home.js';

const DIVIDER = `\n${'='.repeat(100)}\n\n`;

/** A name that is a name on every file system. */
function safe(name) {
  return name.replace(/[^A-Za-z0-9._-]+/g, '_') || 'unknown';
}

/** The files of one plugin instance. Writes are in order; a failed one is told once and never again. */
export class Trace {
  #queue = Promise.resolve();
  #warned = false;

  /**
   * @param logger - `ctx.logger`, told about the first failure.
   * @param config - the resolved row.
   */
  constructor(logger, { debug, prefixDumpDir, keepRawCopy }) {
    this.logger = logger;
    this.home = dshHome();
    this.debug = debug;
    this.dumpDir = prefixDumpDir;
    this.keepRawCopy = keepRawCopy;
  }

  /** Resolves when everything asked for so far is written or has failed. */
  settled() {
    return this.#queue;
  }

  #write(job) {
    this.#queue = this.#queue.then(job).catch((error) => {
      if (!this.#warned) this.logger?.error(`turn-memory: a file could not be written: ${error.message}`);
      this.#warned = true;
    });
  }

  /** Appends one line to the trace. */
  line(session, text) {
    if (!this.debug) return;
    const path = join(this.home, 'turn-memory-debug.log');
    const line = `${new Date().toISOString()} session=${session.id} ${text}\n`;
    this.#write(async () => {
      await mkdir(dirname(path), { recursive: true });
      await appendFile(path, line);
    });
  }

  /** Keeps the record of a replaced turn. `record` is asked for it only where it is wanted. */
  raw(session, turn, record) {
    if (!this.keepRawCopy) return;
    const path = join(this.home, 'turn-memory', 'raw', `${safe(session.id)}-turn-${turn}.md`);
    const text = record();
    this.#write(async () => {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    });
  }

  /**
   * Appends one block about a landed checkpoint: what stands before it, itself, and the first node kept after
   * it, each as its text reaches the front of the next request. The folder is created only below an existing one.
   */
  dump(session, { engine, plan, event, textOf }) {
    if (this.dumpDir === '') return;
    const { nodes } = session.surface;
    const at = nodes.indexOf(event.seq);
    const [before, next] = [nodes[at - 1], nodes[at + 1]];
    const { seqs } = plan;
    const folder = pathInHome(this.dumpDir);
    const path = join(folder, `request-prefix-${safe(session.id)}.txt`);
    const block = [
      `time: ${new Date().toISOString()}`,
      `session: ${session.id}`,
      `mode: ${engine}`,
      `checkpoint: seq ${event.seq}, turn ${plan.turn}`,
      `nodes: ${seqs.length}, span: ${seqs[0]} to ${seqs.at(-1)}, next: ${next ?? 'none'}`,
      '',
      `--- kept before (seq ${before ?? 'none'}) ---`,
      textOf(before),
      `--- checkpoint (seq ${event.seq}) ---`,
      textOf(event.seq),
      `--- next (seq ${next ?? 'none'}) ---`,
      textOf(next),
      '',
    ].join('\n');
    this.#write(async () => {
      await mkdir(folder).catch((error) => {
        if (error.code !== 'EEXIST') throw error;
      });
      const divider = await stat(path).then(() => DIVIDER, () => '');
      await appendFile(path, divider + block);
    });
  }
}
