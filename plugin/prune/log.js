/** The plugin's own log level, since the harness's is one for everybody. */

const LEVELS = ['error', 'warn', 'info', 'debug'];

/**
 * @param logger - `ctx.logger`.
 * @param level - the least severe level that is let through.
 * @returns a logger of the same methods, with `once(key, message)`: a warning said once per plugin instance.
 */
export function levelled(logger, level) {
  const enabled = LEVELS.slice(0, LEVELS.indexOf(level) + 1);
  const said = new Set();
  const log = Object.fromEntries(LEVELS.map((name) => [
    name,
    enabled.includes(name) ? (message) => logger[name](message) : () => {},
  ]));
  log.once = (key, message) => {
    if (said.has(key)) return;
    said.add(key);
    log.warn(message);
  };
  return log;
}
