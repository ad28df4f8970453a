import { type ChildCommand, findProgram } from '../../../../engines/index.ts';
import type { ResourceLimits } from './resource-limits.ts';

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
