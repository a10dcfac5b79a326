/** Small tools for scenarios: real definitions in the real registry, with outputs that the test chooses. */
import { defineTool } from '@deepseek-ai/dsh-tools';

async function outputOf(outputs, key, args, exec) {
  const found = typeof outputs === 'function' ? await outputs(args, exec) : outputs[key] ?? outputs['*'];
  if (found === undefined) throw new Error(`no output scripted for "${key}"`);
  if (found instanceof Error) throw found;
  return typeof found === 'string' ? [{ type: 'text', text: found }] : found;
}

/**
 * @param name - the tool's name.
 * @param parameter - the name of its one required string argument.
 * @param outputs - text, content blocks or an Error by argument value (`*` for all others), or a function of
 * `(args, exec)` that returns one of them, now or later.
 * @param more - further fields of the definition, for instance `isConcurrencySafe: () => true`.
 * @returns a definition for `ctx.tools.register`.
 */
export function scriptedTool(name, parameter, outputs, more = {}) {
  return defineTool({
    name,
    description: `The scripted ${name} tool.`,
    parameters: { [parameter]: { type: 'string', required: true, description: `The ${parameter}.` } },
    output: { schema: { type: 'array', items: { type: 'json' } }, render: (_args, blocks) => blocks },
    execute: (args, exec) => outputOf(outputs, args[parameter], args, exec),
    ...more,
  });
}

/** @param outputs - see `scriptedTool`; keyed by path. @returns a `read` tool, safe to run beside others. */
export function readTool(outputs = { '*': 'line of a file\n'.repeat(40) }) {
  return scriptedTool('read', 'path', outputs, { isConcurrencySafe: () => true });
}

/** @param outputs - see `scriptedTool`; keyed by command line. @returns a `bash` tool that runs alone. */
export function bashTool(outputs = { '*': 'output of a command\n'.repeat(40) }) {
  return scriptedTool('bash', 'command', outputs);
}
