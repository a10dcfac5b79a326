/**
 * Names this platform as addons are named. Apart from `native.js`, so that a build script can ask before
 * there is an addon to load.
 */

/** @returns the triple that names this platform's addon, for instance `linux-x64-gnu`. */
export function platformTriple() {
  const { platform, arch } = process;
  if (platform === 'win32') return `win32-${arch}-msvc`;
  if (platform !== 'linux') return `${platform}-${arch}`;
  const glibc = process.report?.getReport?.().header.glibcVersionRuntime;
  return `linux-${arch}-${glibc ? 'gnu' : 'musl'}`;
}
