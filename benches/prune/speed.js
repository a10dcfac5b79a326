/** A whole pass over 10,000 results, beside the same pass in plain JavaScript, in one process. */
import { createAssistantMessage, createToolResultMessage, createUserMessage } from '@deepseek-ai/dsh-llm';
import { Session } from '@deepseek-ai/dsh-session';
import { Config } from '../../plugin/prune/config.js';
import { readView } from '../../plugin/prune/view.js';
import { native } from '../../plugin/native.js';
import { median, time } from '../clock.js';
import { plainPass } from './plain.js';
import { World } from './stories/world.js';
import { chance, pick } from './stories/random.js';

const ROUNDS = 5;

/**
 * A session of so many reads, searches and edits, with texts of a story's world cut to a few thousand
 * characters.
 */
export function grow(results) {
  const session = Session.create('speed');
  const next = chance('speed');
  const world = new World('speed', {
    flavour: 'ts',
    verbs: [
      'open',
      'close',
      'read',
      'count',
      'merge',
      'split',
      'queue',
      'drain',
      'shift',
      'fold',
      'sort',
      'scan',
    ],
    nouns: [
      'row',
      'page',
      'table',
      'index',
      'token',
      'lease',
      'frame',
      'layer',
      'bucket',
      'cursor',
      'window',
      'signal',
      'socket',
      'header',
      'budget',
      'region',
      'branch',
      'clause',
      'module',
      'bundle',
    ],
    plain: [
      'Kept as it is.',
      'The order of the list is kept.',
      'Nothing is written here.',
      'Read once and not again.',
    ],
  });
  const paths = Array.from({ length: 60 }, (_, at) => `src/part/file-${at}.ts`);
  const texts = new Map(paths.map((path) => [path, world.file(path)]));
  session.append('turn/start', { turn: 1 });
  session.append(
    'user/message',
    createUserMessage({
      content: [{ type: 'text', text: 'Look through all of it.' }],
      source: { kind: 'user' },
    }),
    { surfaceOp: 'append' },
  );
  for (let at = 0; at < results; at += 1) {
    const path = `${pick(next, paths)}`;
    const edits = at % 9 === 8;
    const args = edits ? { path, old_string: 'a', new_string: 'b' } : { path, offset: at };
    const text = edits ? 'Edited.' : texts.get(path).slice(at % 700, (at % 700) + 1_200 + (at % 5) * 900);
    const said = at % 4 === 0 ? `I look at ${pick(next, world.namesIn(path))} in ${path}.` : 'Next.';
    step(session, at, edits ? 'edit' : pick(next, ['read', 'read', 'grep', 'bash']), args, said, text);
  }
  return session;
}

function step(session, at, name, args, said, text) {
  const id = `call-${at}`;
  const message = createAssistantMessage({
    content: [
      { type: 'text', text: said },
      { type: 'tool-call', id, name, arguments: JSON.stringify(args) },
    ],
    source: { provider: 'p', model: 'm' },
  });
  session.append(
    'assistant/message',
    { turn: 1, step: at + 1, message },
    { surfaceOp: 'append', sourceEventSeqs: [] },
  );
  const result = createToolResultMessage({ callId: id, content: [{ type: 'text', text }], isError: false });
  session.append(
    'tool/result',
    { turn: 1, step: at + 1, message: result },
    { surfaceOp: 'append', sourceEventSeqs: [session.seq - 1] },
  );
}

/** The plugin's pass: the view crosses, the core judges and plans both layers. */
export function corePass(settings, session) {
  const { view } = readView(settings, session);
  const { verdicts } = view.rules();
  const trims = view.trims(verdicts, 1);
  const plan = view.receipts(verdicts);
  return { trims, edits: plan.edits(), plan };
}

/** @returns rows of `{ results, chars, coreMs, plainMs }`. */
export function measure() {
  const settings = new native.PruneSettings(JSON.stringify(Config({ judge: 'rules', keepMode: 'absolute' })));
  const session = grow(10_000);
  const chars = session.surface.nodes.length;
  const times = { core: [], plain: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    times.core.push(time(() => corePass(settings, session)).ms);
    times.plain.push(time(() => plainPass(session)).ms);
  }
  return [{ results: 10_000, nodes: chars, coreMs: median(times.core), plainMs: median(times.plain) }];
}
