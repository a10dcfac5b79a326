/** Tools that refuse what they do not understand. */
import { ToolArgsError, defineTool } from '@deepseek-ai/dsh-tools';

/**
 * Defines a tool as the harness's `defineTool` does, except that an argument it has no use for is refused with
 * the names of those it takes. The harness lets such arguments through: a model that asks for `file` where the
 * tool takes `path` would get the answer to another question and never know.
 *
 * @param {object} options - as `defineTool` takes them.
 * @returns {object} the definition to register.
 * @throws {ToolArgsError} from `execute`, code `INVALID_ARGS`.
 */
export function defineStrictTool(options) {
  const known = Object.keys(options.parameters);
  const takes = known.length === 0 ? 'takes none' : `takes ${known.join(', ')}`;
  return defineTool({
    ...options,
    execute(args, exec) {
      const unknown = Object.keys(args ?? {}).filter((key) => !known.includes(key));
      if (unknown.length === 0) return options.execute(args, exec);
      const one = unknown.length === 1;
      const named = unknown.map((key) => JSON.stringify(key)).join(', ');
      throw new ToolArgsError([`${named} ${one ? 'is no argument' : 'are no arguments'} of ${options.name}, which ${takes}`]);
    },
  });
}
