/**
 * Kills its own process, as a power cut would, at one exact moment of a fold. The row's config says when:
 *
 *   { request: 'sent' }       before the report request leaves
 *   { request: 'streaming' }  when the first words of the report are in
 *   { edit: 2 }               when the fold has appended its second event, price events counted
 *   { result: 'w1' }          when the result of that call is logged
 *
 * With `disk: true` the log on disk is brought up to that very event first: writes are batched, so a cut can
 * leave any prefix of the log, and this one is the prefix that ends there.
 */
import { appendFileSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { decodeStorageRecord } from '@deepseek-ai/dsh-session';

export const name = 'test-killer';

export const inject = ['llm'];

/** The output budget that tells the report request apart. */
const REPORT_TOKENS = 1024;

function die() {
  process.kill(process.pid, 'SIGKILL');
}

function logOf({ id }) {
  const folder = join(process.env.DSH_HOME, 'sessions');
  const found = readdirSync(folder, { recursive: true })
    .find((path) => path.includes(id) && path.endsWith('session.jsonl.zstd'));
  return join(folder, found);
}

/** Writes what is not on disk yet, up to the last event, in one synchronous stroke. */
function catchUp(session) {
  const path = logOf(session);
  const texts = [];
  // Node 22 decodes one frame a call. This package is installed by itself and cannot share the tests' reader.
  for (let rest = readFileSync(path); rest.length > 0;) {
    const { buffer, engine } = zstdDecompressSync(rest, { info: true });
    texts.push(buffer);
    rest = rest.subarray(engine.bytesWritten);
  }
  const [, ...rows] = Buffer.concat(texts).toString('utf8').split('\n').filter(Boolean);
  const stored = rows.flatMap((row) => decodeStorageRecord(JSON.parse(row))).length;
  const missing = session.events.slice(stored).map((event) => `${JSON.stringify(event)}\n`);
  appendFileSync(path, zstdCompressSync(missing.join('')));
}

const isEdit = ({ type, surfaceOp }) => type === 'compaction/prune' || typeof surfaceOp === 'object';
const isResult = ({ type, data }, callId) => type === 'tool/result' && data.message.source.callId === callId;

/**
 * @param ctx - the plugin's context.
 * @param config - see above; `{}` for a process that is left to live.
 */
export function apply(ctx, { request, edit, result, disk } = {}) {
  let edits = 0;
  ctx.on('session/event', (session, event) => {
    const now = edit === undefined
      ? isResult(event, result)
      : isEdit(event) && (edits += 1) === edit;
    if (!now) return;
    if (disk) catchUp(session);
    die();
  });
  if (request === undefined) return;
  ctx.on('llm/stream', (options, next) => {
    if (options.maxTokens !== REPORT_TOKENS) return next();
    if (request === 'sent') die();
    return (async function* watched() {
      for await (const chunk of next()) {
        if (chunk.type === 'text-delta') die();
        yield chunk;
      }
    })();
  });
}
