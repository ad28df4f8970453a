import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ChildCommand, ChildStart } from '../../../../engines/index.ts';

const run = promisify(execFile);

export interface Needs {
  /** Programs that are started, wherever they are installed. */
  programs: readonly string[];
  /** Other files and folders that are read. */
  reads: readonly string[];
  /** Started at the end, without input; what it loads is needed too. */
  entry?: ChildCommand;
}

/** 127 means that a program or its interpreter is missing, or lacks a library. */
const LOOK = `const fs = require('fs');
const [programs, reads] = JSON.parse(process.argv[1]);
const refuse = (file, why) => { console.error(file + ' ' + why); process.exit(1); };
for (const file of reads) try {
  fs.accessSync(file);
  fs.accessSync(file, fs.constants.R_OK | (fs.statSync(file).isDirectory() ? fs.constants.X_OK : 0));
} catch (error) {
  refuse(file, error.code === 'EACCES' ? "can't be read there; let others read it (chmod -R o+rX)" : "can't be seen there");
}
for (const program of programs) {
  const { error, status } = require('child_process').spawnSync(program, ['-version'], { stdio: 'ignore' });
  if (error || status === 126 || status === 127) refuse(program, "doesn't run there");
}`;
/** Enough for a busy machine. */
const LOOK_MS = 30_000;

/**
 * Checks before any task that everything needed can be seen, read and run where analyses will run.
 * @param parent where a folder for it is made
 * @returns what is wrong; undefined if nothing is
 */
export async function problemWith(
  start: (command: ChildCommand, folder: string) => ChildStart,
  { programs, reads, entry }: Needs,
  parent: string,
): Promise<string | undefined> {
  let folder: string | undefined;
  try {
    folder = fs.mkdtempSync(path.join(parent, 'tradewind-sandbox-'));
    const look: ChildCommand = [process.execPath, '-e', LOOK, JSON.stringify([programs, reads])];
    for (const wanted of entry ? [look, entry] : [look]) {
      const { command, user, folder: within } = start(wanted, folder);
      const [program, ...args] = command;
      const env = { HOME: within, TMPDIR: within };
      const running = run(program, args, { cwd: folder, timeout: LOOK_MS, env, ...user });
      running.child.stdin?.end();
      await running;
    }
    return undefined;
  } catch (error) {
    return complaintOf(error);
  } finally {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true });
  }
}

function complaintOf(error: unknown): string {
  const { stderr = '', killed, message } = error as Error & { stderr?: string; killed?: boolean };
  if (killed) return `it did not end within ${LOOK_MS / 1_000} seconds`;
  // Node prints the location before the message.
  const lines = stderr.trim().split('\n');
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? (stderr.trim() || message);
}
