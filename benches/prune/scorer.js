/**
 * What a pruning cost: results that were needed again after they had left the surface. Written from the
 * definition in docs/prune.md alone; it shares nothing with the judge that it scores.
 *
 * *Needed and dropped*: a distinctive identifier of a result stands in what the model writes later (visible
 * text or arguments), and nowhere in what it sees at that moment, because the result was cut or moved out.
 */

/** At least eight letters, digits and underscores, among them a digit, an underscore or a capital inside. */
const WORD = /[A-Za-z0-9_]{8,}/g;
const TELLING = /[0-9_]|[a-z][A-Z]/;

/** Lines that hold a word of trouble, by a plain reading of the default list. */
const TROUBLE = [
  'error',
  'exception',
  'traceback',
  'stack trace',
  'assert',
  'fail',
  'panic',
  'unexpected',
  'mismatch',
  'todo',
  'fixme',
  'bug',
  '错误',
  '失败',
  '异常',
  '断言',
  '超时',
];

/** The distinctive identifiers of a text. */
export function identifiersOf(text) {
  return new Set((text.match(WORD) ?? []).filter((word) => TELLING.test(word)));
}

/** All model-visible text of a surface event: text, arguments, tool output; no reasoning. */
export function visibleText({ type, data }) {
  const blocks = type === 'user/message' ? data.content : data.message.content;
  return textsOf(blocks).join('\n');
}

function textsOf(blocks) {
  return blocks.flatMap((block) => {
    if (block.type === 'text') return [block.text];
    if (block.type === 'tool-call') return [block.arguments ?? ''];
    return block.type === 'tool-result' ? textsOf(block.content) : [];
  });
}

/** Lines of a text that a person looking for trouble would stop at: a word at the start of a segment. */
export function troubleLines(text) {
  return text.split('\n').filter((line) => TROUBLE.some((word) => beginsIn(line, word)));
}

/**
 * Whether `word` stands in `line` where a word can begin; kept simple, so it may find fewer than the guard.
 */
function beginsIn(line, word) {
  const spaced = line
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase();
  for (let at = spaced.indexOf(word); at !== -1; at = spaced.indexOf(word, at + 1)) {
    if (at === 0 || !/[a-z0-9]/.test(spaced[at - 1]) || !/[a-z]/.test(word[0])) return true;
  }
  return false;
}

/** Follows one replay and counts. */
export class Scorer {
  /** Original results by seq, with their identifiers. */
  #results = new Map();
  #words = new Map();
  needed = new Set();

  /**
   * Looks at a request: what the model sees, and what it then writes.
   *
   * @param session - the session as it is sent.
   * @param written - the assistant message that answers, not logged yet.
   */
  request(session, written) {
    const { nodes } = session.surface;
    const events = session.events;
    const dropped = [...this.#results].filter(([seq]) => !nodes.includes(seq));
    if (dropped.length === 0) return;
    const used = identifiersOf(visibleText(written));
    const seen = new Set();
    for (const seq of nodes) for (const word of this.#wordsOf(events[seq])) seen.add(word);
    for (const word of used) {
      if (seen.has(word)) continue;
      for (const [seq, words] of dropped) if (words.has(word)) this.needed.add(seq);
    }
  }

  /** Takes an original result into account. */
  result(event) {
    this.#results.set(event.seq, this.#wordsOf(event));
  }

  #wordsOf(event) {
    if (!this.#words.has(event.seq)) this.#words.set(event.seq, identifiersOf(visibleText(event)));
    return this.#words.get(event.seq);
  }
}
