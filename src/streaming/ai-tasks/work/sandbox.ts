import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Command } from '../../../engines/analysis-program.ts';
import { findProgram } from '../../../engines/programs.ts';

const run = promisify(execFile);

/** A machine of its own for what reads a stranger's bytes. */
export interface Sandbox {
  /** The command with no network, no other process, and no file but the system's programs, `reads` and the folder, its only place to write. */
  around(command: Command, folder: string): Command;
}

/** Programs and their libraries. What holds settings, data, sockets or people's files isn't here. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'],
  ...['/etc/ld.so.cache', '/etc/alternatives'],
];
const PROBE_MS = 10_000;

/** Bubblewrap, if it works here: containers and some kernels don't let programs make namespaces. */
export async function findSandbox(options: {
  searchPath: string;
  /** Files and folders that are needed besides the system's programs. */
  reads: readonly string[];
}): Promise<{ found: Sandbox } | { missing: string }> {
  const bubblewrap = findProgram('bwrap', options.searchPath);
  if (bubblewrap === undefined)
    return { missing: `bubblewrap isn't installed; run "npm run install:engines"` };
  const sandbox = bubblewrapSandbox(bubblewrap, options.reads);
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'tradewind-sandbox-'));
  try {
    const [program, ...args] = sandbox.around([process.execPath, '--version'], folder);
    await run(program, args, { cwd: folder, timeout: PROBE_MS, env: {} });
    return { found: sandbox };
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    return { missing: `bubblewrap doesn't work on this system: ${stderr.trim() || message}` };
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}

function bubblewrapSandbox(bubblewrap: string, reads: readonly string[]): Sandbox {
  const readable = [...SYSTEM, ...reads].flatMap((file) => ['--ro-bind-try', file, file]);
  return {
    around: (command, folder) => [
      bubblewrap,
      ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
      ...['--cap-drop', 'ALL', '--die-with-parent', '--hostname', 'sandbox'],
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
      ...readable,
      ...['--bind', folder, folder, '--chdir', folder, '--', ...command],
    ],
  };
}
