/**
 * The plugin's own log: a level of its own, since the harness's is one for everybody, and warnings that are
 * said once and remembered, since the harness's default does not show them.
 */

const LEVELS = ['error', 'warn', 'info', 'debug'];
/** So many warnings are remembered for `/prune status` and the heartbeat. */
const REMEMBERED = 10;

/**
 * @param logger - `ctx.logger`.
 * @param level - the least severe level that is let through.
 * @returns `error(message)`, `info(message)` and `debug(message)`; `once(key, message)`, a warning said once
 *   per plugin instance; and `warnings`, the last of them.
 */
export function levelled(logger, level) {
  const enabled = LEVELS.slice(0, LEVELS.indexOf(level) + 1);
  const say = (name) => (message) => {
    if (enabled.includes(name)) logger[name](message);
  };
  const warn = say('warn');
  const said = new Set();
  const warnings = [];
  return {
    error: say('error'),
    info: say('info'),
    debug: say('debug'),
    warnings,
    once(key, message) {
      if (said.has(key)) return;
      said.add(key);
      warn(message);
      warnings.push(message);
      if (warnings.length > REMEMBERED) warnings.shift();
    },
  };
}
