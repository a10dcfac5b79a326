/** Words for a person about what a session holds. */
import { resultOf } from '../host/events.js';
import { plural } from '../host/words.js';

/** @returns how long ago a time in milliseconds was, roughly. */
export function ago(time, now = Date.now()) {
  const minutes = Math.max(0, Math.floor((now - time) / 60_000));
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${plural(minutes, 'minute')} ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${plural(hours, 'hour')} ago` : `${plural(Math.floor(hours / 24), 'day')} ago`;
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
