import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns command lines of the processes whose working folder is inside this one, by process id. */
export function processesIn(folder: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const name of fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      if (!fs.readlinkSync(`/proc/${name}/cwd`).startsWith(folder)) continue;
      found.set(Number(name), fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '));
    } catch {
      // The process exited meanwhile.
    }
  }
  return found;
}

/** Returns the resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

/** Kills a process that may have ended by itself just now. */
export function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Gives the processes in a folder ten seconds to end by themselves, and kills the others. */
async function endProcessesIn(folder: string): Promise<void> {
  const left = () => [...processesIn(folder).keys()];
  for (let count = 0; count < 100 && left().length > 0; count++) await sleep(100);
  for (const pid of left()) killIfThere(pid);
}

/**
 * Removes a folder with running clusters in it. The clusters' own folder is renamed first: their supervisors end what has
 * no folder, and until then the clusters write files.
 */
export async function endClustersIn(folder: string, clusters: string): Promise<void> {
  if (fs.existsSync(clusters)) fs.renameSync(clusters, `${clusters}-removed`);
  await endProcessesIn(folder);
  if (process.env.KEEP_FOLDER === undefined) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
