import fs from 'node:fs';

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
