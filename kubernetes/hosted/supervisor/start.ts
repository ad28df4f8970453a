import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ownProgram } from '../../../src/lib/own-program.ts';
import { isAlive, type ProcessName } from './alive.ts';
import { readJson } from './files.ts';
import { logOf, openLog, SUPERVISOR } from './logs.ts';

const HEAP_MEGABYTES = 64;

/** Folders whose supervisor we have started and that still runs: it may take a second until it says so. */
const beginning = new Set<string>();

/** Returns undefined if none runs. */
export function runningSupervisor(folder: string): ProcessName | undefined {
  const known = readJson<ProcessName>(path.join(folder, 'supervisor.json'));
  return known && isAlive(known) ? known : undefined;
}

/**
 * Starts the supervisor of the clusters in the folder, unless it runs. If several are started at once, one of them
 * stays. It is in a session of its own, and outlives us. Returns it once it runs.
 */
export function ensureSupervisor(folder: string, searchPath: string): ProcessName | undefined {
  const running = runningSupervisor(folder);
  if (running) return running;
  if (beginning.has(folder)) return undefined;
  const log = openLog(folder, SUPERVISOR);
  const [command, ...args] = ownProgram(
    'kubernetes/hosted/supervisor/main.ts',
    `--max-old-space-size=${HEAP_MEGABYTES}`,
  );
  const child = spawn(command, [...args, folder], {
    cwd: folder,
    detached: true,
    env: { PATH: searchPath },
    stdio: ['ignore', log, log],
  });
  fs.closeSync(log);
  beginning.add(folder);
  child.on('exit', () => beginning.delete(folder));
  child.on('error', (error) => {
    beginning.delete(folder);
    fs.appendFileSync(logOf(folder, SUPERVISOR), `${error.message}\n`);
  });
  child.unref();
  return undefined;
}
