/**
 * Loads the Rust core for this platform. Nothing else in the package loads an addon, no environment
 * variable picks the file, and nothing is downloaded.
 */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** @returns the triple that names this platform's addon, for instance `linux-x64-gnu`. */
export function platformTriple() {
  const { platform, arch } = process;
  if (platform === 'win32') return `win32-${arch}-msvc`;
  if (platform !== 'linux') return `${platform}-${arch}`;
  const glibc = process.report?.getReport?.().header.glibcVersionRuntime;
  return `linux-${arch}-${glibc ? 'gnu' : 'musl'}`;
}

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
