/** The platforms that packages are published for: one table, from which their manifests are written. */

/** npm's `os`, `cpu` and `libc`, and what a person calls it, by triple. */
export const PLATFORMS = {
  'linux-x64-gnu': linux('x64', 'glibc'),
  'linux-x64-musl': linux('x64', 'musl'),
  'linux-arm64-gnu': linux('arm64', 'glibc'),
  'linux-arm64-musl': linux('arm64', 'musl'),
  'darwin-x64': { os: 'darwin', cpu: 'x64', title: 'macOS x64' },
  'darwin-arm64': { os: 'darwin', cpu: 'arm64', title: 'macOS arm64' },
  'win32-x64-msvc': { os: 'win32', cpu: 'x64', title: 'Windows x64' },
};

function linux(cpu, libc) {
  return { os: 'linux', cpu, libc, title: `Linux ${cpu} (${libc})` };
}

/** @returns the name of a platform's package. */
export function packageName(triple) {
  return `@dpskh/tool-rewind-${triple}`;
}

/** @returns the file name of a platform's addon. */
export function addonName(triple) {
  return `tool-rewind.${triple}.node`;
}

/**
 * Writes the manifest of a platform's package from the entry's, so that the two cannot disagree.
 *
 * @param triple - a key of {@link PLATFORMS}.
 * @param entry - the entry package's manifest.
 * @returns the platform package's manifest.
 */
export function platformManifest(triple, { version, license, repository, engines }) {
  const { os, cpu, libc, title } = PLATFORMS[triple];
  return {
    name: packageName(triple),
    version,
    description: `The native core of @dpskh/tool-rewind for ${title}`,
    license,
    repository,
    engines,
    os: [os],
    cpu: [cpu],
    ...(libc ? { libc: [libc] } : {}),
    main: addonName(triple),
    files: [addonName(triple)],
  };
}

/** @returns the README of a platform's package. */
export function platformReadme(triple) {
  const name = packageName(triple);
  return `# ${name}

The native core of @dpskh/tool-rewind for ${PLATFORMS[triple].title}. That package installs it where it fits; there is
no reason to install it by hand.
`;
}
