import type { Command } from '../../../engines/analysis-program.ts';
import { findProgram } from '../../../engines/programs.ts';
import type { WorkLimits } from './limits.ts';

const NICE = '10';

/**
 * A command behind everything else on the machine, within limits that the kernel holds, and ended with the thread
 * that started it. Where util-linux or coreutils are missing, without what they would do.
 */
export function confined(command: Command, searchPath: string, limits: WorkLimits['child']): Command {
  const wrappers: [string, string[]][] = [
    ['setpriv', ['--pdeathsig', 'KILL', '--no-new-privs']],
    ['prlimit', prlimitArguments(limits)],
    ['nice', ['-n', NICE]],
  ];
  const [first, ...rest] = wrappers.flatMap(([name, args]) => {
    const program = findProgram(name, searchPath);
    return program === undefined ? [] : [program, ...args];
  });
  return first === undefined ? command : [first, ...rest, ...command];
}

/** Of the child itself; the programs that it starts have limits of their own. */
function prlimitArguments({ cpuSeconds, memoryBytes }: WorkLimits['child']): string[] {
  return [
    `--cpu=${cpuSeconds}`,
    // Memory that it may write to. Its address space is no measure: WebAssembly reserves far more than it uses.
    `--data=${memoryBytes}`,
    '--fsize=1000000000',
    '--nofile=512',
    '--core=0',
  ];
}
