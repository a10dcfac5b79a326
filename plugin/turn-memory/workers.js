/**
 * Children of this plugin: started with a private mark in their options, known by it when they are published,
 * and given tools and a guard in their own scope before their first prompt. The main agent never sees either.
 */
import { basename } from 'node:path';
import { defineStrictTool } from '../host/tool.js';
import { classified, refusal } from './plan.js';

/** Tools of the draft; they exist in a worker's scope alone. */
const DRAFT_TOOLS = new Set(['draft_replace_segment', 'draft_read_segment', 'draft_grep']);
/** What a recall child may use: it inherits its parent's tools, and must change nothing. */
const READ_TOOLS = new Set(['read', 'glob', 'grep', 'web_search', 'web_fetch']);
/** Code Mode's transport: the calls inside a program pass the guard one by one. */
const TRANSPORT = 'run_code';

const TEXT_OUTPUT = { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] };

/** The children of one plugin instance. */
export class Workers {
  /** @type {Map<string, { kind: 'draft' | 'recall', plan?: object, parent: object }>} */
  #jobs = new Map();

  /** @param ctx - the plugin's context. */
  constructor(ctx) {
    this.ctx = ctx;
    ctx.on('agent/created', ({ agent }) => this.#equip(agent));
  }

  /** @returns a new job whose child edits the plan's draft. */
  openDraft(id, parent, plan) {
    this.#jobs.set(id, { kind: 'draft', parent, plan });
    return id;
  }

  /** @returns a new job whose child answers a question. */
  openRecall(id, parent) {
    this.#jobs.set(id, { kind: 'recall', parent });
    return id;
  }

  /** Ends a job: calls of its child are refused from now on. */
  close(id) {
    this.#jobs.delete(id);
  }

  /** @returns whether the provider is there. */
  has(provider) {
    return this.ctx.get('subagents')?.getProvider(provider) !== undefined;
  }

  /**
   * Runs one child to its result. Its disposal is started, never waited for.
   *
   * @param provider - the subagent provider.
   * @param request - the start request, with `signal`.
   * @param job - the job that the child belongs to, if it has tools or a guard of its own.
   * @returns the child's result.
   * @throws {RewindError} `WORKER_START_FAILED` when it cannot be started.
   */
  async run(provider, request, job) {
    const subagents = this.ctx.get('subagents');
    if (subagents === undefined) throw refusal('WORKER_START_FAILED', 'no subagent service is mounted.');
    const agentOptions = { ...request.agentOptions, ...(job === undefined ? {} : { turnMemoryJob: job }) };
    let run;
    try {
      run = await subagents.start(provider, { ...request, agentOptions });
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      throw refusal('WORKER_START_FAILED', `the ${provider} child could not be started: ${error.message}`, error);
    }
    try {
      return await run.result;
    } finally {
      run.dispose().catch((error) => this.ctx.logger?.error(error));
    }
  }

  /** Gives a child of ours its tools and its guard, before its first prompt. */
  #equip(child) {
    const id = child.options.turnMemoryJob;
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    const { tools } = child.ctx;
    const open = () => this.#jobs.get(id) === job;
    tools.guard((exec) => (open() ? denial(job.kind, exec) : 'this job has ended; nothing more is accepted.'));
    if (job.kind === 'draft') for (const tool of draftTools(job, open)) tools.register(tool);
  }
}

function denial(kind, { name, arguments: args }) {
  if (name === TRANSPORT) return undefined;
  if (kind === 'draft') {
    return DRAFT_TOOLS.has(name) ? undefined : `only ${[...DRAFT_TOOLS].join(', ')} are allowed while a turn is shortened.`;
  }
  if (READ_TOOLS.has(name) || (name === 'expand_turn' && args?.mode === 'raw')) return undefined;
  return `only ${[...READ_TOOLS].join(', ')} and raw recall are allowed while a question is answered.`;
}

function draftTools({ plan, parent }, open) {
  const own = `.dsh-turn-summary-${parent.session.id}-turn-${plan.turn}.md`;
  const id = { type: 'integer', required: true, description: 'The segment\'s id.' };
  const path = { type: 'string', description: 'Not needed: the draft is this turn\'s.' };
  const guarded = (act) => async (args) => {
    if (!open()) throw refusal('ROUND_ENDED', 'this round has ended; nothing more is accepted.');
    if (args.path !== undefined && basename(args.path) !== own) {
      throw refusal('DRAFT_PATH', `this worker edits ${own} alone; leave the path out.`);
    }
    return classified(() => act(args));
  };
  return [
    defineStrictTool({
      name: 'draft_replace_segment',
      description: 'Write the account of one working segment of the draft. The last one counts.',
      parameters: { path, id, content: { type: 'string', required: true, description: 'The account, without tags.' } },
      output: TEXT_OUTPUT,
      execute: guarded((args) => `segment ${args.id} (${plan.draft.replace(segmentId(args.id), args.content)}) replaced`),
    }),
    defineStrictTool({
      name: 'draft_read_segment',
      description: 'Read one segment of the draft as it stands.',
      parameters: { path, id },
      output: TEXT_OUTPUT,
      execute: guarded((args) => plan.draft.read(segmentId(args.id))),
    }),
    defineStrictTool({
      name: 'draft_grep',
      description: 'Search all segments of the draft, line by line.',
      parameters: { path, pattern: { type: 'string', required: true, description: 'A regular expression.' } },
      output: TEXT_OUTPUT,
      execute: guarded((args) => plan.draft.grep(args.pattern)),
    }),
  ];
}

/** Ids cross as unsigned numbers; whatever else a model sends names no segment. */
function segmentId(id) {
  return Number.isInteger(id) && id >= 0 && id < 2 ** 32 ? id : 0;
}
