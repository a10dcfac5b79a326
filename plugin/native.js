/**
 * Loads the Rust core for this platform. Nothing else in the package loads an addon, no environment
 * variable picks the file, and nothing is downloaded.
 */
import { createRequire } from 'node:module';
import { platformTriple } from './platform.js';

const require = createRequire(import.meta.url);

const BUILD = 'or build it from the repository with "npm run build" (needs Rust).';

function load() {
  const triple = platformTriple();
  for (const candidate of [`@dpskh/tool-rewind-${triple}`, `../tool-rewind.${triple}.node`]) {
    let addon;
    try {
      addon = require(candidate);
    } catch (cause) {
      if (cause?.code === 'MODULE_NOT_FOUND') continue;
      throw new Error(
        `@dpskh/tool-rewind cannot load its native core for ${triple} (${cause.message}): install `
          + `@dpskh/tool-rewind-${triple} again, ${BUILD}`,
        { cause },
      );
    }
    return checked(addon);
  }
  throw new Error(
    `@dpskh/tool-rewind has no native core for ${triple}: install @dpskh/tool-rewind-${triple}, ${BUILD}`,
  );
}

/** An older core would take columns it does not know. */
function checked(addon) {
  const { version } = require('../package.json');
  if (addon.version() === version) return addon;
  throw new Error(`@dpskh/tool-rewind ${version} found a native core of version ${addon.version()}: `
    + 'install both in the same version, or build the core anew with "npm run build".');
}

/** The core's exports, as `src/binding` declares them. */
export const native = load();
