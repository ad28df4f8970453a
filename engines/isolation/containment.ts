import type { ChildCommand, ChildStart } from '../analysis-program.ts';
import { findProgram } from '../programs.ts';
import { giveTo, isRoot, nextUser } from './analysis-user.ts';
import type { ResourceLimits } from './resource-limits.ts';
import { type Needs, problemWith, type SandboxFinding } from './sandbox.ts';

const NICE = '10';
/** Programs of util-linux and coreutils. */
const CONFINERS = ['setpriv', 'prlimit', 'nice'] as const;

/**
 * Returns a command with the lowest priority, with limits that the kernel enforces, and killed when the
 * thread that started it ends. If one of the programs is missing, its part is left out.
 */
export function confined(
  command: ChildCommand,
  searchPath: string,
  limits: ResourceLimits['child'] & {
    /** Whether the kernel counts its processes separately from all others. */ counts: boolean;
  },
): ChildCommand {
  const args = {
    setpriv: ['--pdeathsig', 'KILL', '--no-new-privs'],
    prlimit: prlimitArguments(limits),
    nice: ['-n', NICE],
  };
  const [first, ...rest] = CONFINERS.flatMap((name) => {
    const program = findProgram(name, searchPath);
    return program === undefined ? [] : [program, ...args[name]];
  });
  return first === undefined ? command : [first, ...rest, ...command];
}

/** Returns the installed programs that confine commands. */
export function confiners(searchPath: string): string[] {
  return CONFINERS.flatMap((name) => findProgram(name, searchPath) ?? []);
}

/** Limits of the child itself; the programs that it starts have their own limits. */
function prlimitArguments({
  cpuSeconds,
  memoryBytes,
  writtenBytes,
  processes,
  counts,
}: Parameters<typeof confined>[2]): string[] {
  return [
    `--cpu=${cpuSeconds}`,
    // Limits writable memory, not the address space: WebAssembly reserves far more than it uses.
    `--data=${memoryBytes}`,
    `--fsize=${writtenBytes}`,
    '--nofile=512',
    '--core=0',
    ...(counts ? [`--nproc=${processes}`] : []),
  ];
}

/** Isolates analyses from the server and the machine. */
export interface Containment {
  start(command: ChildCommand, folder: string): ChildStart;
  /** Why there is no sandbox; undefined if there is one. */
  lacks: string | undefined;
}

export type ContainmentFinding = { found: Containment; missing?: never } | { found?: never; missing: string };

interface ContainmentOptions {
  sandbox: SandboxFinding;
  /** Whether analyses may run without a sandbox. */
  optional: boolean;
  needs: Needs;
  searchPath: string;
  limits: ResourceLimits['child'];
  /** The folder in which the sandbox is tried. */
  folder: string;
}

/** Never analyses as root: without a sandbox, root's analyses run as nobody, or not at all. */
export async function findContainment(options: ContainmentOptions): Promise<ContainmentFinding> {
  const { sandbox, optional } = options;
  const confine = (command: ChildCommand, counts: boolean) =>
    confined(command, options.searchPath, { ...options.limits, counts });
  // When memory runs out, the kernel should kill an analysis rather than the database.
  const choom = findProgram('choom', options.searchPath);
  const first = (start: ChildStart): ChildStart =>
    choom === undefined ? start : { ...start, command: [choom, '-n', '1000', '--', ...start.command] };
  if (sandbox.found) {
    const { around, counts } = sandbox.found;
    return {
      found: {
        start: (command, folder) => first(around(confine(command, counts), folder)),
        lacks: undefined,
      },
    };
  }
  const lacks = sandbox.missing;
  if (!optional) return { missing: lacks };
  if (!isRoot()) {
    const start = (command: ChildCommand, folder: string) =>
      first({ command: confine(command, false), folder, writesToDisk: true });
    return { found: { start, lacks } };
  }
  const start = (command: ChildCommand, folder: string) => first(asNobody(confine(command, true), folder));
  const problem = await problemWith(start, options.needs, options.folder);
  if (problem === undefined) return { found: { start, lacks } };
  return {
    missing: `${lacks}. Without a sandbox, analyses run as unprivileged users, never as root, and that fails here: ${problem}. Run Tradewind as its own user`,
  };
}

/**
 * Enters the folder while still root, since nobody could not pass the folders around it, and refers to it as
 * the working directory.
 */
function asNobody(command: ChildCommand, folder: string): ChildStart {
  const user = nextUser();
  giveTo(user, folder);
  return { command, user, folder: '/proc/self/cwd', writesToDisk: true };
}
