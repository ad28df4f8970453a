import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { MARK } from './alive.ts';
import type { Process } from './files.ts';
import { logOf, openLog } from './logs.ts';

const STOP_MS = 10_000;
/** The exit code of flock for a lock that another process holds. */
export const HELD = 213;

/** Where a cluster is, and the programs of the system, as in PATH. */
export interface Place {
  folder: string;
  searchPath: string;
}

/** A process that the supervisor has started. */
export interface Child {
  readonly pid: number | undefined;
  readonly running: boolean;
  /** Asks it to stop, and kills it if it doesn't. */
  stop(): Promise<void>;
}

/**
 * Starts the process. The kernel ends it when we end, however that happens, and holds a lock for it as long as it
 * runs, so that there are never two of it.
 */
export function startChild(
  { folder, searchPath }: Place,
  { name, program, args, env, stopMs = STOP_MS }: Process,
  ended: (code: number | null) => void,
): Child {
  const log = openLog(folder, name);
  const lock = path.join(folder, 'run', `${name}.lock`);
  fs.mkdirSync(path.dirname(lock), { recursive: true, mode: 0o700 });
  const child = spawn(
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', '--no-new-privs'],
      ...['flock', '--no-fork', '--nonblock', '--conflict-exit-code', String(HELD), lock],
      ...[program, ...args],
    ],
    {
      cwd: folder,
      env: { PATH: searchPath, HOME: folder, [MARK]: folder, ...env },
      stdio: ['ignore', log, log],
    },
  );
  fs.closeSync(log);
  let running = child.pid !== undefined;
  child.once('error', (error) => {
    fs.appendFileSync(logOf(folder, name), `${error.message}\n`);
    if (child.pid === undefined) ended(null);
  });
  child.once('exit', (code) => {
    running = false;
    ended(code);
  });
  return {
    pid: child.pid,
    get running() {
      return running;
    },
    stop: async () => {
      if (running) await stopped(child, stopMs);
    },
  };
}

async function stopped(child: ChildProcess, withinMs: number): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), withinMs);
  await exited;
  clearTimeout(force);
}
