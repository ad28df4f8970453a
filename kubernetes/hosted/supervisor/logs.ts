import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../src/lib/errors.ts';

const LIMIT_BYTES = 4 * 1024 * 1024;
const LAST_WORDS_BYTES = 4_096;
/** The name of the supervisor's own log. */
export const SUPERVISOR = 'supervisor';

export const logOf = (folder: string, name: string): string => path.join(folder, `${name}.log`);

/** Opens a log for what is appended. A program that ends again and again must not fill the disk either. */
export function openLog(folder: string, name: string): number {
  rotateLog(folder, name);
  return fs.openSync(logOf(folder, name), 'a', 0o600);
}

/** Keeps the latest part of a large log as `.old`. What is being written at this moment may get lost. */
export function rotateLog(folder: string, name: string): void {
  const file = logOf(folder, name);
  const size = attempt(() => fs.statSync(file).size) ?? 0;
  if (size < LIMIT_BYTES) return;
  // A full disk has no room for it, and needs the log's.
  attempt(() => fs.copyFileSync(file, `${file}.old`));
  attempt(() => fs.truncateSync(file));
}

/** Returns the last line that the process has written. */
export function lastWordsOf(folder: string, name: string): string {
  const file = logOf(folder, name);
  const size = attempt(() => fs.statSync(file).size) ?? 0;
  const bytes = Buffer.alloc(Math.min(size, LAST_WORDS_BYTES));
  const fd = attempt(() => fs.openSync(file, 'r'));
  if (fd === undefined) return '';
  try {
    fs.readSync(fd, bytes, 0, bytes.length, size - bytes.length);
  } finally {
    fs.closeSync(fd);
  }
  return bytes.toString('utf8').trim().split('\n').at(-1) ?? '';
}
