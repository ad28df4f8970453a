import fs from 'node:fs';

/** Command lines of the processes whose working folder is in this one, by their ids. */
export function processesIn(folder: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const name of fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      if (!fs.readlinkSync(`/proc/${name}/cwd`).startsWith(folder)) continue;
      found.set(Number(name), fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '));
    } catch {
      // It ended while it was looked at.
    }
  }
  return found;
}

/** What a process holds of memory, in bytes. */
export function residentBytes(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
