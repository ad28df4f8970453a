import type { ChildCommand } from '../../../engines/analysis-program.ts';
import { findProgram } from '../../../engines/programs.ts';
import type { ResourceLimits } from './resource-limits.ts';

const NICE = '10';
/** util-linux and coreutils. */
const CONFINERS = ['setpriv', 'prlimit', 'nice'] as const;

/**
 * A command behind everything else on the machine, within limits that the kernel holds, and ended with the thread
 * that started it. Where one of the programs is missing, without what it would do.
 */
export function confined(
  command: ChildCommand,
  searchPath: string,
  limits: ResourceLimits['child'] & {
    /** Whether the kernel counts its processes apart from all others. */ counts: boolean;
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

/** The programs by which commands are confined, as far as they are there. */
export function confiners(searchPath: string): string[] {
  return CONFINERS.flatMap((name) => findProgram(name, searchPath) ?? []);
}

/** Of the child itself; the programs that it starts have limits of their own. */
function prlimitArguments({
  cpuSeconds,
  memoryBytes,
  writtenBytes,
  processes,
  counts,
}: Parameters<typeof confined>[2]): string[] {
  return [
    `--cpu=${cpuSeconds}`,
    // Memory that it may write to. Its address space is no measure: WebAssembly reserves far more than it uses.
    `--data=${memoryBytes}`,
    `--fsize=${writtenBytes}`,
    '--nofile=512',
    '--core=0',
    ...(counts ? [`--nproc=${processes}`] : []),
  ];
}
