/** Numbers as a person reads them, the same in every plugin and as the core prints them. */

/** @returns a count with separators. */
export function count(number) {
  return number.toLocaleString('en-US');
}

/** @returns `1 node`, `1,200 nodes`. */
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** @returns a size in characters and, where known, tokens. */
export function size(chars, tokens) {
  const text = plural(chars, 'character');
  return tokens === undefined ? text : `${text}, about ${plural(tokens, 'token')}`;
}

/** @returns the first and last of some seqs in surface order: `s7`, or `s7 to s12`. */
export function range(first, last) {
  return first === last ? `s${first}` : `s${first} to s${last}`;
}

/** @returns the beginning of a text, cut between characters: half of one would spoil whatever it is sent in. */
export function head(text, limit) {
  return text.length > limit ? text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '') : text;
}

/** @returns a text on one line: whoever wrote it, nothing in it breaks the line or steers a terminal. */
export function oneLine(text) {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
