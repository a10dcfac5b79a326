/**
 * Events to the columns in which a turn's messages cross: one tag and one length a row, and one text that holds
 * every string in row order. UTF-16 all the way, so lone surrogates come back as they went.
 */
import { resultOf } from '../host/events.js';
import { isReportSource } from '../host/reports.js';
import { PLUGIN, WHOLE_TURN } from './turns.js';

/** Row kinds, as `src/turns/script.rs` names them. */
const PERSON = 1;
const INJECTED = 2;
const ASSISTANT = 3;
const RESULT = 4;
const FAILED_RESULT = 5;
const FRAGMENT = 6;
const QUOTE = 7;
const TEXT = 10;
const REASONING = 11;
const CALL = 12;
const CALL_ID = 13;
const ARGUMENTS = 14;
const OTHER = 15;

/** Columns that are filled anew for every crossing: the core has read them before the next one begins. */
let tags = new Uint8Array(256);
let lengths = new Uint32Array(256);

/** Rows under construction. */
class Rows {
  count = 0;
  texts = [];

  put(tag, text) {
    if (this.count === tags.length) {
      tags = grown(tags);
      lengths = grown(lengths);
    }
    tags[this.count] = tag;
    lengths[this.count] = text.length;
    this.count += 1;
    this.texts.push(text);
  }

  blocks(blocks) {
    for (const block of blocks) {
      switch (block.type) {
        case 'text':
          this.put(TEXT, asText(block.text));
          break;
        case 'reasoning':
          this.put(REASONING, asText(block.text));
          break;
        case 'tool-call':
          this.put(CALL, asText(block.name));
          this.put(CALL_ID, asText(block.id));
          this.put(ARGUMENTS, asText(block.arguments));
          break;
        default:
          this.put(OTHER, asText(block.type));
      }
    }
  }

  message(event, turn) {
    if (event.type === 'tool/result') {
      const { callId, blocks, isError } = resultOf(event);
      this.put(isError ? FAILED_RESULT : RESULT, asText(callId));
      this.blocks(blocks);
    } else if (event.type === 'assistant/message') {
      this.put(ASSISTANT, '');
      this.blocks(event.data.message.content);
    } else {
      this.user(event.data.source ?? {}, turn);
      this.blocks(event.data.content);
    }
  }

  user(source, turn) {
    if (source.kind === 'user') {
      this.put(PERSON, '');
      return;
    }
    if (isFragment(source, turn)) {
      this.put(FRAGMENT, '');
      return;
    }
    if (isReportSource(source) && Array.isArray(source.quotes)) {
      for (const quote of source.quotes) this.put(QUOTE, asText(quote));
    }
    this.put(INJECTED, (source.kind === 'plugin' ? asText(source.plugin) : asText(source.kind)) || 'context');
  }
}

function grown(column) {
  const next = new column.constructor(column.length * 2);
  next.set(column);
  return next;
}

/** A summary of a part of this very turn; the core splices its segments. */
function isFragment({ kind, plugin, turn, scope }, number) {
  return kind === 'plugin' && plugin === PLUGIN && scope !== WHOLE_TURN && turn === number;
}

/** Logs of other tools hold `null` where text is meant. */
function asText(value) {
  return typeof value === 'string' ? value : '';
}

/**
 * @param events - surface events, in order.
 * @param turn - the turn's number, by which its own earlier summaries are known.
 * @returns the columns, as the core takes them; good until the next call.
 */
export function scriptOf(events, turn) {
  const rows = new Rows();
  for (const event of events) rows.message(event, turn);
  return { tags: tags.subarray(0, rows.count), lengths: lengths.subarray(0, rows.count), text: rows.texts.join('') };
}
