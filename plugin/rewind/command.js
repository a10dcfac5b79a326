/**
 * `/rewind`: what a person sees of the folds of a session and can do about them. Text only, for a terminal
 * and the web view alike; nothing of it reaches the model.
 */
import { RewindError } from '../host/error.js';
import { acquire, holder } from '../host/lock.js';
import { listFolds, showFold } from './command-history.js';
import { preview, status } from './command-outlook.js';
import { NO_PROVIDER } from './fold.js';
import { askService, latestMark } from './mark.js';
import { summary } from './tool.js';

/** The command's name, whatever the tool is called. */
const NAME = 'rewind';

/** Sub-commands with what they do, in the order of the help. */
const KNOWN = {
  status: ['', 'the active mark, and what came since (the default)'],
  preview: ['', 'what a fold now would take, keep and refuse; asks no model'],
  fold: ['', 'fold now, up to the last answer'],
  list: ['', 'all folds of this session'],
  show: [' MARK [OFFSET]', "a fold's report, and the originals behind it"],
  discard: ['', 'drop the active mark without folding'],
  help: ['', 'this list'],
};

/**
 * Registers the command where the composition has commands, now or later.
 *
 * @param {import('@deepseek-ai/cordis').Context} ctx - the entry plugin's context.
 * @param {object} config - the resolved row.
 * @param {object} engine - the fold service's engine.
 */
export function registerCommand(ctx, config, engine) {
  ctx.inject(['commands'], (inner) => {
    inner.commands.register({
      name: NAME,
      description: 'See, preview, make and look into folds of this session.',
      input: { hint: `[${Object.keys(KNOWN).join(' | ')}]` },
      recordInput: true,
      handler: (invocation) => run({ ctx, config, engine }, invocation),
    });
  });
}

/** Runs one sub-command; a classified refusal is an answer, anything else is the harness's to report. */
async function run(host, { agent, rawInput, signal }) {
  const [word = 'status', ...rest] = rawInput.trim().split(/\s+/).filter(Boolean);
  const act = Object.hasOwn(ACTIONS, word.toLowerCase()) ? ACTIONS[word.toLowerCase()] : undefined;
  if (act === undefined) {
    return { kind: 'error', text: `/${NAME} ${word} is not known. Known: ${Object.keys(KNOWN).join(', ')}.` };
  }
  const surplus = surplusOf(word.toLowerCase(), rest);
  if (surplus !== undefined) return { kind: 'error', text: surplus };
  try {
    const answer = await act(host, agent, rest, signal);
    return typeof answer === 'string' ? { kind: 'success', text: answer } : answer;
  } catch (error) {
    if (error instanceof RewindError) return { kind: 'error', text: error.message };
    throw error;
  }
}

/** A word too many may be what the person meant most: `fold --dry-run` must not fold, nor `discard 2` drop mark 3. */
function surplusOf(name, given) {
  const takes = KNOWN[name][0].trim();
  const known = takes === '' ? 0 : takes.split(' ').length;
  if (given.length <= known) return undefined;
  const words = given.slice(known).join(' ');
  return `/${NAME} ${name} takes ${takes === '' ? 'nothing more' : takes}, so "${words}" is not understood. Nothing was done.`;
}

const ACTIONS = {
  status,
  preview,
  fold: async ({ ctx }, agent, _rest, signal) => summary(await ctx.rewind.rewind(agent, signal)),
  list: listFolds,
  show: showFold,
  discard,
  help,
};

function help() {
  const width = Math.max(...Object.entries(KNOWN).map(([name, [args]]) => name.length + args.length));
  const lines = Object.entries(KNOWN)
    .map(([name, [args, what]]) => `  /${NAME} ${(name + args).padEnd(width)}  ${what}`);
  return [
    'A fold takes everything since a mark out of the context and puts one report in its place.',
    ...lines,
    'A fold stays: the log keeps the originals, and /rewind show reads them.',
  ].join('\n');
}

/** Drops the active mark. The answer cites the mark's event, which makes it outlive a resume. */
async function discard({ ctx, config }, agent, _rest, signal) {
  const provider = ctx.get('checkpoint');
  if (!provider) throw new RewindError('NO_CHECKPOINT', NO_PROVIDER);
  const { session } = agent;
  const failed = { next: 'so nothing was discarded. Ask again later.' };
  const isActive = await askService(() => provider.hasActive(session.id), signal, failed);
  const mark = isActive ? await latestMark(provider, session, signal, failed) : undefined;
  if (!mark) throw new RewindError('NO_CHECKPOINT', 'No mark is active, so there is nothing to discard.');
  if (typeof provider.discard !== 'function') {
    throw new RewindError('NO_CHECKPOINT', 'The mounted checkpoint provider cannot discard marks. Fold the '
      + `mark with /${NAME} fold, or go on: the guard asks once a turn and then lets it end.`);
  }
  signal.throwIfAborted();
  const release = acquire(session, NAME);
  if (!release) {
    throw new RewindError('FOLD_IN_PROGRESS', 'The context of this session is being rewritten by '
      + `${holder(session)}: wait for it to end. Nothing was discarded.`);
  }
  try {
    const sourceEventSeq = await provider.discard(session.id, mark.id);
    const text = `Mark ${mark.id} is discarded. What came since stays in the context, and nothing asks for `
      + `\`${config.toolName}\` any more.`;
    if (sourceEventSeq !== undefined) return { kind: 'success', text, sourceEventSeq };
    return `${text} The mark was not taken by a tool call, so it may be back when the session is resumed.`;
  } finally {
    release();
  }
}
