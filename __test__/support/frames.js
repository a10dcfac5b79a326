/** Reads the zstd frames of a stored session log. */
import { zstdDecompressSync } from 'node:zlib';

/**
 * @param bytes - frames, one after another, as the harness appends them.
 * @returns their text. Node 22 decodes one frame a call and Node 24 all of them: what was taken is asked for.
 */
export function textOfFrames(bytes) {
  const texts = [];
  for (let rest = bytes; rest.length > 0;) {
    const { buffer, engine } = zstdDecompressSync(rest, { info: true });
    if (engine.bytesWritten === 0) throw new Error(`no frame at byte ${bytes.length - rest.length}`);
    texts.push(buffer);
    rest = rest.subarray(engine.bytesWritten);
  }
  return Buffer.concat(texts).toString('utf8');
}
