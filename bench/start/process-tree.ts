import fs from 'node:fs';
import { attempt } from '../../src/lib/errors.ts';

const TICKS_PER_SECOND = 100;

export interface ProcessTree {
  processes: number;
  /** User and system time of all of them, and of those that have ended. */
  cpuSeconds: number;
  /** Shared pages count in parts, so that nothing counts twice. */
  pssMegabytes: number;
  /** Of the first process alone. */
  rssMegabytes: number;
}

/** Returns what a process and everything that it started use now. Needs /proc. */
export function processTree(root: number): ProcessTree {
  const parents = new Map<number, number>();
  const ticks = new Map<number, number>();
  for (const name of fs.readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) && attempt(() => fs.readFileSync(`/proc/${name}/stat`, 'utf8'));
    if (!stat) continue;
    // The name in parentheses may contain spaces, so the fields are counted after it.
    const fields = stat
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number);
    parents.set(Number(name), fields[1] ?? 0);
    // Own time and that of children that have ended.
    const times = fields.slice(11, 15).reduce((sum, each) => sum + each, 0);
    ticks.set(Number(name), times);
  }
  const members = new Set([root]);
  // A parent may have a higher id than its child, so one pass isn't enough.
  for (let before = 0; before < members.size; ) {
    before = members.size;
    for (const [pid, parent] of parents) if (members.has(parent)) members.add(pid);
  }
  const sum = (of: (pid: number) => number) => [...members].reduce((total, pid) => total + of(pid), 0);
  return {
    processes: members.size,
    cpuSeconds: sum((pid) => ticks.get(pid) ?? 0) / TICKS_PER_SECOND,
    pssMegabytes: sum((pid) => kilobytes(`/proc/${pid}/smaps_rollup`, 'Pss')) / 1024,
    rssMegabytes: kilobytes(`/proc/${root}/status`, 'VmRSS') / 1024,
  };
}

function kilobytes(file: string, field: string): number {
  const text = attempt(() => fs.readFileSync(file, 'utf8')) ?? '';
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
}
