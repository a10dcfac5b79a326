/** Files that a configuration asks for: where they may stand, and where the harness's home is. */
import { homedir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';

/** @returns a path whose leading `~` is the person's own home. */
function expanded(path) {
  return path === '~' || /^~[/\\]/.test(path) ? join(homedir(), path.slice(1)) : path;
}

/** @returns the harness's home, by its own rule: `$DSH_HOME` unless blank, else `~/.dsh`. */
export function dshHome() {
  const set = process.env.DSH_HOME;
  return set === undefined || set.trim() === '' ? join(homedir(), '.dsh') : resolve(expanded(set));
}

/**
 * @param {string} path - a configured path.
 * @returns {string} where it is: absolute as it stands, otherwise below the harness's home.
 */
export function pathInHome(path) {
  return resolve(dshHome(), expanded(path));
}

/**
 * Says what is wrong with a configured path. A relative one names something below the harness's home: one that
 * climbs out of it would write where nobody looks for it, and depend on where the harness lives.
 *
 * @param {string} key - the setting.
 * @param {string} path - its value; empty stands for none.
 * @returns {string | undefined} a sentence, where there is something.
 */
export function pathFault(key, path) {
  if (path === '' || isAbsolute(expanded(path))) return undefined;
  const below = relative(dshHome(), pathInHome(path));
  const inside = below !== '' && !/^\.\.([/\\]|$)/.test(below) && path.trim() === path;
  return inside ? undefined : `${key} is ${JSON.stringify(path)}, which is no place below $DSH_HOME: give a relative path `
    + 'that stays below it, or an absolute one.';
}
