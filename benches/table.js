/** Markdown tables, so that what the command prints can stand in the README as it is. */

/**
 * @param head - column titles.
 * @param rows - cells.
 * @returns the table's lines.
 */
export function markdown(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

/** @returns milliseconds with as many digits as say something. */
export function ms(value) {
  return value >= 10 ? value.toFixed(0) : value.toPrecision(2);
}

/** @returns a ratio as a person reads it. */
export function times(value) {
  return `${value >= 10 ? value.toFixed(0) : value.toFixed(1)}x`;
}
