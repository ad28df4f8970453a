import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ChildCommand, ChildStart } from '../analysis-program.ts';
import { findProgram } from '../programs.ts';
import { giveTo, isRoot, nextUser, type OsUser } from './analysis-user.ts';
import { type View, viewOf, wayTo } from './view.ts';

export interface Tools {
  bubblewrap: string;
  /** Whether this version of bubblewrap has the option. */
  knows(option: string): boolean;
  /** The program of util-linux with which root becomes another user. */
  setpriv: string;
  view: View;
  /** How much an analysis may write in total. */
  scratchBytes: number;
}

/** Isolates a process that reads a stranger's bytes. */
export interface Sandbox {
  /**
   * Starts the command without network and other processes. It sees programs, the needed files, and the files
   * that are in the folder by now; it can only write to the folder.
   */
  around(command: ChildCommand, folder: string): ChildStart;
  /** Whether the kernel counts the processes in it separately from all others. */
  counts: boolean;
}

const NAMESPACES = [
  ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--die-with-parent', '--hostname', 'sandbox'],
];
/** Further namespaces would give rights over parts of the kernel, and file systems without limits. */
const NO_MORE = '--disable-userns';

/**
 * Returns the possible sandboxes, the best first. Which of them the kernel, its policies and this bubblewrap
 * allow is found out by trying: an old or setuid one supports less.
 */
export function sandboxesOf(tools: Tools): Sandbox[] {
  const make = isRoot() ? asNobody : asOurselves;
  const lesser = make({ ...tools, knows: () => false }, false);
  if (!tools.knows('--size')) return [lesser];
  return [...(tools.knows(NO_MORE) ? [make(tools, true)] : []), make(tools, false), lesser];
}

function asOurselves(tools: Tools, noMore: boolean): Sandbox {
  return {
    around: (command, folder) => ({
      command: [
        tools.bubblewrap,
        ...['--unshare-user', ...(noMore ? [NO_MORE] : []), '--cap-drop', 'ALL'],
        ...insideOf(tools, folder, ['/proc']),
        ...['--', ...command],
      ],
      folder,
      writesToDisk: !tools.knows('--size'),
    }),
    counts: kernelIsAtLeast(5, 14),
  };
}

/**
 * Root sets up the view, since only root may enter every folder, and then becomes a user who is nobody outside either.
 * Root in a namespace of its own would still own the files of /proc, including those that lead out of it.
 */
function asNobody(tools: Tools, noMore: boolean): Sandbox {
  const { bubblewrap, setpriv } = tools;
  const become = ({ uid, gid }: OsUser) => [
    ...[setpriv, '--reuid', String(uid), '--regid', String(gid), '--clear-groups', '--no-new-privs'],
  ];
  // Bubblewrap again, as nobody, for the one namespace that forbids all others. It writes to /proc before
  // anything else runs.
  const within = [
    ...[bubblewrap, '--unshare-user', NO_MORE, '--cap-drop', 'ALL', '--die-with-parent'],
    ...['--dev-bind', '/', '/', '--remount-ro', '/proc', '--'],
  ];
  return {
    around(command, folder) {
      const user = nextUser();
      giveTo(user, folder);
      return {
        command: [
          bubblewrap,
          ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID'],
          ...insideOf(tools, folder, noMore ? [] : ['/proc']),
          ...['--', ...become(user), ...(noMore ? within : []), ...command],
        ],
        folder,
        writesToDisk: !tools.knows('--size'),
      };
    },
    counts: true,
  };
}

/** Returns the arguments for what exists in the sandbox and what of it is writable. */
function insideOf({ view, knows, scratchBytes }: Tools, folder: string, readOnly: readonly string[]): string[] {
  const inputs = fs.readdirSync(folder).map((name) => path.join(folder, name));
  return [
    ...NAMESPACES,
    ...['--proc', '/proc', '--dev', '/dev', ...view.args, ...wayTo(folder)],
    ...(knows('--size')
      ? [
          ...['--perms', '0777', '--size', String(scratchBytes), '--tmpfs', folder],
          ...inputs.flatMap((file) => ['--ro-bind', file, file]),
        ]
      : ['--bind', folder, folder]),
    // Anything left writable would be memory without a limit, or settings of the kernel.
    ...[...view.hiding, '/dev', '/', ...readOnly].flatMap((at) => ['--remount-ro', at]),
    ...['--chdir', folder],
  ];
}

function kernelIsAtLeast(major: number, minor: number): boolean {
  const [has = 0, hasMinor = 0] = os.release().split('.').map(Number.parseFloat);
  return has > major || (has === major && hasMinor >= minor);
}

export interface Needs {
  /** Programs that are started, wherever they are installed. */
  programs: readonly string[];
  /** Other files and folders that are read. */
  reads: readonly string[];
  /** Started at the end, without input; what it loads is needed too. */
  entry?: ChildCommand;
}

/** 127 means that a program or its interpreter is missing, or lacks a library. */
const LOOK = `const fs = require('fs');
const [programs, reads] = JSON.parse(process.argv[1]);
const refuse = (file, why) => { console.error(file + ' ' + why); process.exit(1); };
for (const file of reads) try {
  fs.accessSync(file);
  fs.accessSync(file, fs.constants.R_OK | (fs.statSync(file).isDirectory() ? fs.constants.X_OK : 0));
} catch (error) {
  refuse(file, error.code === 'EACCES' ? "can't be read there; let others read it (chmod -R o+rX)" : "can't be seen there");
}
for (const program of programs) {
  const { error, status } = require('child_process').spawnSync(program, ['-version'], { stdio: 'ignore' });
  if (error || status === 126 || status === 127) refuse(program, "doesn't run there");
}`;
/** Enough for a busy machine. */
const LOOK_MS = 30_000;

/**
 * Checks before any task that everything needed can be seen, read and run where analyses will run.
 * @param parent where a folder for it is made
 * @returns what is wrong; undefined if nothing is
 */
export async function problemWith(
  start: (command: ChildCommand, folder: string) => ChildStart,
  { programs, reads, entry }: Needs,
  parent: string,
): Promise<string | undefined> {
  let folder: string | undefined;
  try {
    folder = fs.mkdtempSync(path.join(parent, 'tradewind-sandbox-'));
    const look: ChildCommand = [process.execPath, '-e', LOOK, JSON.stringify([programs, reads])];
    for (const wanted of entry ? [look, entry] : [look]) {
      const { command, user, folder: within } = start(wanted, folder);
      const [program, ...args] = command;
      const env = { HOME: within, TMPDIR: within };
      const running = run(program, args, { cwd: folder, timeout: LOOK_MS, env, ...user });
      running.child.stdin?.end();
      await running;
    }
    return undefined;
  } catch (error) {
    return complaintOf(error);
  } finally {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true });
  }
}

function complaintOf(error: unknown): string {
  const { stderr = '', killed, message } = error as Error & { stderr?: string; killed?: boolean };
  if (killed) return `it did not end within ${LOOK_MS / 1_000} seconds`;
  // Node prints the location before the message.
  const lines = stderr.trim().split('\n');
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? (stderr.trim() || message);
}

const run = promisify(execFile);

export type SandboxFinding = { found: Sandbox; missing?: never } | { found?: never; missing: string };

interface SandboxOptions extends Needs {
  searchPath: string;
  /** Folders that must stay invisible, even inside a needed one; needed files in them are visible. */
  hides: readonly string[];
  /** How much an analysis may write in total. */
  scratchBytes: number;
  /** The folder in which the sandbox is tried. */
  folder: string;
}

/** Finds bubblewrap, if it works here: containers and some kernels forbid namespaces. */
export async function findSandbox(options: SandboxOptions): Promise<SandboxFinding> {
  if (process.platform !== 'linux') return { missing: 'a sandbox is available only on Linux' };
  const { searchPath, scratchBytes, hides, programs, reads } = options;
  const bubblewrap = findProgram('bwrap', searchPath);
  if (bubblewrap === undefined) return { missing: `bubblewrap isn't installed; run "npx tradewind engines install"` };
  const setpriv = findProgram('setpriv', searchPath);
  if (isRoot() && setpriv === undefined)
    return { missing: `setpriv isn't installed, and analyses don't run as root; install util-linux` };
  let problem: string | undefined;
  try {
    const own = [process.execPath, ...programs, ...(isRoot() ? [bubblewrap, setpriv ?? ''] : [])];
    const view = viewOf({ needed: [...own, ...reads], hides });
    const knows = await optionsOf(bubblewrap);
    for (const found of sandboxesOf({ bubblewrap, knows, setpriv: setpriv ?? '', view, scratchBytes })) {
      problem = await problemWith(found.around, options, options.folder);
      if (problem === undefined) return { found };
    }
  } catch (error) {
    problem = (error as Error).message;
  }
  return { missing: `bubblewrap doesn't work here: ${problem} (docs/ai.md)` };
}

/** Options differ between versions; a version that can't list them is tried all the same. */
async function optionsOf(bubblewrap: string): Promise<(option: string) => boolean> {
  const help = await run(bubblewrap, ['--help'], { timeout: 10_000, env: {} }).catch(() => ({ stdout: '' }));
  const known = new Set(help.stdout.match(/--[a-z-]+/g));
  return (option) => known.has(option);
}
