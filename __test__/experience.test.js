/** What the package's own words cost in every request; the README states these numbers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as rewind from '../index.js';
import * as checkpoint from '../plugin/checkpoint/index.js';
import * as recall from '../plugin/recall/index.js';
import * as turnMemory from '../plugin/turn-memory/index.js';
import { ROOT } from '../scripts/lib/project.js';
import { createLoop } from './support/loop.js';
import { say } from './support/script.js';

const CHARS_PER_TOKEN = 4;
const tokens = (chars) => Math.ceil(chars / CHARS_PER_TOKEN);

/** The system prompt's length and the tools of one request, with these plugins mounted. */
async function requestWith(plugins) {
  const loop = await createLoop({ plugins, steps: { main: [say('ok')] } });
  try {
    await (await loop.agent()).prompt('hello');
    const { system, tools = [] } = loop.requests.at(-1).options;
    const schemas = tools.map((tool) => [tool.name, tokens(JSON.stringify(tool).length)]);
    return { system: system.length, schemas: Object.fromEntries(schemas) };
  } finally {
    await loop.dispose();
  }
}

test('the README states what tools and prompt sections cost in every request', async () => {
  const fold = [[checkpoint], [rewind, {}], [recall]];
  const bare = await requestWith([]);
  const folding = await requestWith(fold);
  const remembering = await requestWith([...fold, [turnMemory, {}]]);
  const { checkpoint: mark, rewind: folds, recall: recalls } = folding.schemas;
  const section = tokens(folding.system - bare.system);
  const { compact_turn: compact, expand_turn: expand } = remembering.schemas;
  const guidance = tokens(remembering.system - folding.system);
  const stated = {
    'README.md': [
      `\`checkpoint\` ${mark}, \`rewind\` ${folds}, \`recall\` ${recalls} tokens of every request, the prompt section ${section}`,
      `\`compact_turn\` ${compact}, \`expand_turn\` ${expand}, its section ${guidance}`,
    ],
    'README.zh.md': [
      `\`checkpoint\` ${mark}、\`rewind\` ${folds}、\`recall\` ${recalls} 个 token，提示段 ${section} 个`,
      `\`compact_turn\` ${compact}、\`expand_turn\` ${expand}，提示段 ${guidance} 个`,
    ],
  };
  for (const [name, sentences] of Object.entries(stated)) {
    const text = readFileSync(join(ROOT, name), 'utf8').replace(/\s+/g, ' ');
    for (const sentence of sentences) assert.ok(text.includes(sentence), `${name} does not say: ${sentence}`);
  }
});
