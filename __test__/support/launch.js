/** What a launched harness inherits from the process that launches it. */
import { environment } from '../../scripts/lib/project.js';

/**
 * The variables of a launch: nothing of the caller's own harness, Node or test runner leaks into it. The extra
 * certificates stay: behind an inspecting proxy the package manager reaches no registry without them, and waits.
 *
 * @param home - the harness's home.
 * @param more - further variables, which win.
 */
export function launchEnvironment(home, more = {}) {
  const env = environment();
  for (const key of Object.keys(env)) {
    if (/^(DSH_|DEEPSEEK_|NODE_|npm_)/.test(key) && key !== 'NODE_EXTRA_CA_CERTS') delete env[key];
  }
  return {
    ...env,
    DSH_HOME: home,
    DSH_TELEMETRY_DISABLED: '1',
    // Whatever was fetched once is not asked for again: after the first run these tests need no network.
    npm_config_prefer_offline: 'true',
    ...more,
  };
}
