import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Child {
  pid: number;
  /** The match of the ready line, with its groups. */
  ready: RegExpExecArray;
  process: ChildProcess;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<void>;
}

/** How much less urgent than the bench itself a process may be, so that it doesn't take the bench's processor. */
export const BEHIND = ['nice', '-n', '5'] as const;

/**
 * Starts node with `args` and waits until a line of its standard output matches `ready`.
 * @throws Error with its output if it exits before that
 */
export async function startNode(
  args: readonly string[],
  ready: RegExp,
  env: Record<string, string | undefined> = {},
  cwd = ROOT,
  behind = false,
): Promise<Child> {
  const [program = process.execPath, ...before] = behind ? [...BEHIND, process.execPath] : [];
  const child = spawn(program, [...before, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const found = await new Promise<RegExpExecArray>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-10_000);
        const match = ready.exec(output);
        if (match) resolve(match);
      });
    }
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`node ${args.join(' ')} ended with ${code}:\n${output}`)));
  });
  return {
    pid: child.pid ?? 0,
    ready: found,
    process: child,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Returns the full path of a file of `bench/`, e.g. `operations/floor.ts`. Run it with `--import tsx`. */
export function benchFile(name: string): string {
  return path.join(ROOT, 'bench', name);
}
