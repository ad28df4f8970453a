import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../src/lib/errors.ts';

/** Each process of a cluster has this in its environment, with the cluster's folder. */
export const MARK = 'TRADEWIND_CLUSTER_FOLDER';

/** Names a process for as long as the machine runs: the kernel gives process ids to others later. */
export interface ProcessName {
  pid: number;
  /** When it began, in ticks since the machine started. */
  began: string;
}

/** Returns undefined if there is no such process, or it has ended and nobody has asked for its exit code. */
export function nameOf(pid: number): ProcessName | undefined {
  const stat = attempt(() => fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === undefined) return undefined;
  // The second field is a file name in brackets and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = 'Z'] = fields;
  const began = fields[19] ?? '';
  return state === 'Z' || state === 'X' ? undefined : { pid, began };
}

export function isAlive({ pid, began }: ProcessName): boolean {
  return nameOf(pid)?.began === began;
}

/** Returns the processes of a cluster that run, whoever has started them. */
export function processesOfCluster(folder: string): number[] {
  const mark = `${MARK}=${path.resolve(folder)}`;
  return fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      const environment = attempt(() => fs.readFileSync(`/proc/${pid}/environ`, 'latin1'));
      return environment?.split('\0').includes(mark) === true && nameOf(pid) !== undefined;
    });
}
