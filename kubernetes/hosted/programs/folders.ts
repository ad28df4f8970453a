import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../src/lib/errors.ts';
import { isProgram } from '../../../src/lib/own-program.ts';
import { isLater } from '../../versions.ts';

/** What a control plane needs. */
export const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
/** What plays the nodes, where it is installed. */
export const KWOK = 'kwok';

const VERSION = /^v\d+\.\d+\.\d+$/;
/** In the format of sha256sum(1). */
export const SUMS = 'SHA256SUMS';

/** Returns the programs that the folder of a version lacks. */
export function missingPrograms(folder: string): string[] {
  return PROGRAMS.filter((name) => !isProgram(path.join(folder, name)));
}

/** Writes the checksums of all programs of a folder. */
export function writeSums(folder: string): void {
  const names = fs.readdirSync(folder).filter((name) => isProgram(path.join(folder, name)));
  const lines = names.map((name) => `${sumOf(path.join(folder, name))}  ${name}\n`);
  fs.writeFileSync(path.join(folder, SUMS), lines.join(''));
}

/** Whether the folder has all programs, and each is as it was when its checksum was written. */
export function wholeFolder(folder: string): boolean {
  const file = path.join(folder, SUMS);
  if (!fs.existsSync(file) || missingPrograms(folder).length > 0) return false;
  const lines = fs.readFileSync(file, 'utf8').trim().split('\n');
  return lines.every((line) => {
    const [sum, name = ''] = line.split(/ +/);
    const program = path.join(folder, name);
    return isProgram(program) && sumOf(program) === sum;
  });
}

export function sumOf(file: string): string {
  const hash = createHash('sha256');
  const fd = fs.openSync(file, 'r');
  const chunk = Buffer.alloc(1 << 20);
  try {
    for (let size = fs.readSync(fd, chunk); size > 0; size = fs.readSync(fd, chunk)) {
      hash.update(chunk.subarray(0, size));
    }
  } finally {
    fs.closeSync(fd);
  }
  return hash.digest('hex');
}

export const hasKwok = (folder: string): boolean => isProgram(path.join(folder, KWOK));

/** Returns the versions whose programs are all there, oldest first. */
export function installedVersions(folder: string): string[] {
  const names = attempt(() => fs.readdirSync(folder)) ?? [];
  return names
    .filter((name) => VERSION.test(name) && missingPrograms(path.join(folder, name)).length === 0)
    .sort((a, b) => (isLater(a, b) ? 1 : -1));
}
