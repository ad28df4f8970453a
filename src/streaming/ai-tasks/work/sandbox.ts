import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ChildCommand } from '../../../engines/analysis-program.ts';
import { findProgram } from '../../../engines/programs.ts';

const run = promisify(execFile);

/** A machine of its own for what reads a stranger's bytes. */
export interface Sandbox {
  /** The command without network and other processes. It sees programs and `reads`, and writes to the folder alone. */
  around(command: ChildCommand, folder: string): ChildCommand;
}

export type SandboxFinding = { found: Sandbox; missing?: never } | { found?: never; missing: string };

interface SandboxOptions {
  searchPath: string;
  /** Files and folders that are needed besides the system's programs. */
  reads: readonly string[];
  /** Folders that nothing may see, even where they lie in one that is needed. */
  hides: readonly string[];
}

/** Programs and their libraries. Settings, sockets and people's files have no place in these, and `hides` are taken out. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'],
  ...['/etc/ld.so.cache', '/etc/alternatives'],
];
/** What a sandbox doesn't wrap well, such as a file behind a link that leads out of it, is found out before a task is. */
const LOOK = `for (const file of process.argv.slice(1)) {
  try { require('fs').accessSync(file); } catch { console.error(file + " can't be seen in it"); process.exit(1); }
}`;
const LOOK_MS = 10_000;

/** Bubblewrap, if it works here: containers and some kernels don't let programs make namespaces. */
export async function findSandbox(
  options: SandboxOptions & { /** Where it is tried. */ folder: string },
): Promise<SandboxFinding> {
  if (process.platform !== 'linux') return { missing: 'there is one for Linux only' };
  const bubblewrap = findProgram('bwrap', options.searchPath);
  if (bubblewrap === undefined)
    return { missing: `bubblewrap isn't installed; run "npm run install:engines"` };
  let folder: string | undefined;
  try {
    fs.mkdirSync(options.folder, { recursive: true });
    folder = fs.mkdtempSync(path.join(options.folder, 'sandbox-'));
    const sandbox = bubblewrapSandbox(bubblewrap, options);
    const look = [process.execPath, '-e', LOOK, ...options.reads] as const;
    const [program, ...args] = sandbox.around(look, folder);
    await run(program, args, { cwd: folder, timeout: LOOK_MS, env: {} });
    return { found: sandbox };
  } catch (error) {
    return { missing: `bubblewrap doesn't work here: ${complaintOf(error)} (docs/ai-tasks.md)` };
  } finally {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true });
  }
}

function complaintOf(error: unknown): string {
  const { stderr = '', killed, message } = error as Error & { stderr?: string; killed?: boolean };
  if (killed) return `it did not end within ${LOOK_MS / 1_000} seconds`;
  return stderr.trim() || message;
}

function bubblewrapSandbox(bubblewrap: string, { reads, hides }: SandboxOptions): Sandbox {
  const hidden = hides.map(realPath).filter((folder) => fs.existsSync(folder));
  const shows = (file: string) => isIn(file, SYSTEM) && !isIn(file, hidden);
  const needed = [...new Set(reads.flatMap((file) => [path.resolve(file), realPath(file)]))].filter(
    (file) => !shows(file),
  );
  const hide = (folder: string) => ['--tmpfs', folder];
  const show = (file: string) => ['--ro-bind-try', file, file];
  const view = [
    ...SYSTEM.flatMap(show),
    ...hidden.filter((folder) => isIn(folder, SYSTEM)).flatMap(hide),
    ...needed.flatMap(show),
    ...hidden.filter((folder) => isIn(path.dirname(folder), needed)).flatMap(hide),
  ];
  return {
    around: (command, folder) => [
      bubblewrap,
      ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
      ...['--cap-drop', 'ALL', '--die-with-parent', '--hostname', 'sandbox'],
      ...['--proc', '/proc', '--dev', '/dev', ...view, '--bind', folder, folder],
      // What is left to write to would be memory that no limit counts.
      ...['--remount-ro', '/', '--remount-ro', '/dev', '--chdir', folder, '--', ...command],
    ],
  };
}

function isIn(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file === folder || file.startsWith(`${folder}${path.sep}`));
}

function realPath(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
