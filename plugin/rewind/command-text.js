/** Words and numbers for a person. */
import { resultOf } from '../host/events.js';

/** @returns a count with separators, the same everywhere. */
export function count(number) {
  return number.toLocaleString('en-US');
}

/** @returns `12 nodes`. */
export function plural(number, word) {
  return `${count(number)} ${word}${number === 1 ? '' : 's'}`;
}

/** @returns a size in characters and, where known, tokens. */
export function size(chars, tokens) {
  const text = plural(chars, 'character');
  return tokens === undefined ? text : `${text}, about ${plural(tokens, 'token')}`;
}

/** @returns how long ago a time in milliseconds was, roughly. */
export function ago(time, now = Date.now()) {
  const minutes = Math.max(0, Math.floor((now - time) / 60_000));
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${plural(minutes, 'minute')} ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${plural(hours, 'hour')} ago` : `${plural(Math.floor(hours / 24), 'day')} ago`;
}

/** @returns the first and last of some seqs as a range. */
export function range(seqs) {
  return seqs.length === 1 ? `s${seqs[0]}` : `s${seqs[0]} to s${seqs.at(-1)}`;
}

/** @returns who speaks in a surface event, in one word or two. */
export function speaker(event) {
  if (event.type === 'assistant/message') return 'assistant';
  if (event.type === 'tool/result') return resultOf(event).isError ? 'failed result' : 'result';
  const { kind, plugin } = event.data.source ?? {};
  return plugin ?? kind ?? 'message';
}

/** @returns tool names with how often each is called in some events, most often first. */
export function toolsIn(events) {
  const counts = new Map();
  for (const { type, data } of events) {
    if (type !== 'assistant/message') continue;
    for (const block of data.message.content) {
      if (block.type === 'tool-call') counts.set(block.name, (counts.get(block.name) ?? 0) + 1);
    }
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)
    .map(([tool, times]) => (times === 1 ? tool : `${tool} ×${times}`));
}
