/**
 * `npm run docs`: writes the configuration tables of both READMEs from the schemas. With `--check` nothing is
 * written, and a table that does not agree ends the command with 1.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNode, prepare } from './lib/prepare.js';
import { main } from './lib/process.js';
import { ROOT } from './lib/project.js';

/** The plugins by the row ids of the documentation. */
const PLUGINS = {
  'tool-rewind': 'index.js',
  'tool-rewind-checkpoint': 'plugin/checkpoint/index.js',
  'tool-rewind-recall': 'plugin/recall/index.js',
  'tool-rewind-prune': 'plugin/prune/index.js',
  'tool-rewind-turn-memory': 'plugin/turn-memory/index.js',
};
const HEADS = {
  'README.md': ['key', 'default', 'accepts', 'meaning'],
  'README.zh.md': ['键', '默认值', '可取值', '含义'],
};
const LARGEST = 2_000_000_000;

/** What a field accepts, as a person reads it. */
function accepts({ type, list, meta, inner }) {
  if (type === 'union') return list.map((one) => (one.type === 'const' ? `\`${one.value}\`` : accepts(one))).join(', ');
  if (type === 'number') {
    const bounds = [
      meta.min > -Infinity && meta.min !== undefined && `from ${meta.min}`,
      meta.max < LARGEST && `to ${meta.max}`,
    ];
    return [meta.step === 1 ? 'integer' : 'number', ...bounds.filter(Boolean)].join(' ');
  }
  if (type === 'array') return `list of ${accepts(inner)}`;
  return type === 'dict' ? 'object' : type;
}

function shown(value) {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.map((one) => `\`${one}\``).join(', ');
  return typeof value === 'string' ? `\`${value === '' ? "''" : value}\`` : `\`${JSON.stringify(value)}\``;
}

function tableOf(head, fields, meanings) {
  const row = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    row(head),
    row(head.map(() => '---')),
    ...Object.entries(fields).map(([key, field]) => {
      const meaning = meanings ? meanings[key] : field.meta.description;
      if (!meaning) throw new Error(`${key} has no description${meanings ? ' in docs/config.zh.json' : ''}`);
      return row([`\`${key}\``, shown(field.meta.default), accepts(field), meaning]);
    }),
  ].join('\n');
}

async function write(check) {
  const chinese = JSON.parse(readFileSync(join(ROOT, 'docs', 'config.zh.json'), 'utf8'));
  const schemas = {};
  for (const [id, path] of Object.entries(PLUGINS)) schemas[id] = (await import(join(ROOT, path))).Config.dict;
  const stale = [];
  for (const [file, head] of Object.entries(HEADS)) {
    const path = join(ROOT, file);
    const before = readFileSync(path, 'utf8');
    const after = before.replace(/<!-- config:([\w-]+) -->[\s\S]*?<!-- \/config -->/g, (_all, id) => {
      const table = tableOf(head, schemas[id], file === 'README.zh.md' ? chinese[id] : undefined);
      return `<!-- config:${id} -->\n\n${table}\n\n<!-- /config -->`;
    });
    for (const id of Object.keys(PLUGINS)) {
      if (!after.includes(`<!-- config:${id} -->`)) throw new Error(`${file} has no place for the settings of ${id}`);
    }
    if (after !== before) stale.push(file);
    if (!check) writeFileSync(path, after);
  }
  if (check && stale.length > 0) throw new Error(`${stale.join(', ')}: the settings changed; run "npm run docs"`);
}

await main(async () => {
  const check = process.argv.includes('--check');
  // The schemas are the harness's, and need the Node that runs it.
  if (process.argv.includes('--inside')) {
    await write(check);
  } else {
    prepare();
    runNode(['scripts/docs.js', '--inside', ...(check ? ['--check'] : [])]);
  }
});
