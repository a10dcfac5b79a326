/**
 * Child processes, and how a command of this repository ends. Plain Node: it runs before anything is
 * installed.
 */
import { spawnSync } from 'node:child_process';

/** A command that ended badly after it had said why on its own output. */
export class CommandFailed extends Error {
  constructor(command, args, status) {
    super(`"${[command, ...args].join(' ')}" ended with ${status}`);
    this.status = status;
  }
}

/**
 * Runs a command and waits for it; its output goes to this process's own.
 *
 * @param command - the program.
 * @param args - its arguments.
 * @param options - `cwd` and `env` as `spawnSync` takes them; `quiet` keeps its output for the error alone.
 * @throws CommandFailed when it ends with anything but 0, and a plain sentence when it cannot be started.
 */
export function run(command, args, { cwd, env, quiet = false } = {}) {
  // npm is a script on Windows, and only a shell can start one there.
  const shell = process.platform === 'win32';
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    cwd, env, shell, stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
  });
  if (error) {
    const missing = `"${command}" was not found on the PATH`;
    throw new Error(error.code === 'ENOENT' ? missing : error.message, { cause: error });
  }
  if (status === 0) return;
  if (quiet) process.stderr.write(Buffer.concat([stdout, stderr]));
  throw new CommandFailed(command, args, status ?? signal);
}

/**
 * Runs the body of a command and turns a failure into one line and an exit code.
 *
 * @param body - the command.
 */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    console.error(error instanceof CommandFailed ? error.message : error?.message ?? error);
    process.exitCode = Number.isInteger(error?.status) ? error.status : 1;
  }
}
