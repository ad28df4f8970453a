import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

const UTIME = 11;
const STIME = 12;
let ticksPerSecond: number | undefined;

/**
 * Returns the CPU time that one process has used so far, all its threads, user and system, in microseconds.
 * NaN without /proc.
 */
export function cpuMicros(pid: number): number {
  try {
    ticksPerSecond ??= Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;
    // The name in parentheses may contain spaces, so the fields are counted after it.
    const fields = fs
      .readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return ((Number(fields[UTIME]) + Number(fields[STIME])) * 1e6) / ticksPerSecond;
  } catch {
    return Number.NaN;
  }
}
