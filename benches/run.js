/**
 * `npm run bench`: every measurement beside its alternative in one process, as tables, or with `--json` for
 * machines. A missed target ends the command with 1. `--only NAME` measures one part.
 */
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

/** Each part exports `measure()` -> rows, `table(rows)` -> lines, and `missed(rows)` -> sentences. */
const PARTS = ['select', 'whole', 'audit'];
/** Parts that take minutes run when they are named. */
const ALONE = ['soak'];

function print(lines) {
  for (const line of lines) console.log(line);
}

const { values } = parseArgs({ options: { json: { type: 'boolean' }, only: { type: 'string' } } });
const known = [...PARTS, ...ALONE];
if (values.only !== undefined && !known.includes(values.only)) {
  console.error(`no part "${values.only}"; there are: ${known.join(', ')}`);
  process.exit(2);
}
const results = {};
const missed = [];
for (const part of values.only === undefined ? PARTS : [values.only]) {
  const bench = await import(pathToFileURL(`${import.meta.dirname}/${part}.js`));
  const rows = await bench.measure();
  results[part] = rows;
  missed.push(...bench.missed(rows).map((what) => `${part}: ${what}`));
  if (!values.json) print([...bench.table(rows), '']);
}
if (values.json) console.log(JSON.stringify({ results, missed }, null, 2));
for (const what of missed) console.error(`target missed: ${what}`);
process.exitCode = missed.length > 0 ? 1 : 0;
