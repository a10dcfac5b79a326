/**
 * Loads the Rust core for this platform. Nothing else in the package loads an addon, no environment
 * variable picks the file, and nothing is downloaded.
 */
import { createRequire } from 'node:module';
import { platformTriple } from './platform.js';

const require = createRequire(import.meta.url);

function load() {
  const triple = platformTriple();
  for (const candidate of [`@dpskh/tool-rewind-${triple}`, `../tool-rewind.${triple}.node`]) {
    try {
      return require(candidate);
    } catch (error) {
      if (error?.code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new Error(
    `@dpskh/tool-rewind has no native core for ${triple}: install @dpskh/tool-rewind-${triple}, `
      + 'or build it from the repository with "npm run build" (needs Rust).',
  );
}

export const native = load();
