import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { attempt } from '../src/lib/errors.ts';
import { DATABASE, ROLE } from './cluster.ts';
import type { Runner } from './runner.ts';

export const SOCKET_PORT = 5432;
const SOCKET_FILE = `.s.PGSQL.${SOCKET_PORT}`;

// The length of sockaddr_un.sun_path including the final NUL: 108 bytes on Linux, 104 on macOS.
const LONGEST = process.platform === 'linux' ? 107 : 103;

/**
 * Creates the empty folder for the server's socket, closed to everybody but us and the server: `run` in the
 * data folder. If that path is too long, the folder is under the system's temporary folder, and `run` links
 * to it. Call it only while no server of this data folder runs.
 */
export function makeSocketDir(dataDir: string, owner: Runner['socketOwner']): string {
  const run = path.join(dataDir, 'run');
  removeSocketDir(dataDir);
  let dir = run;
  if (fits(run)) fs.mkdirSync(run, { mode: 0o700 });
  else {
    const parent = fits(path.join(os.tmpdir(), 'tradewind-XXXXXX')) ? os.tmpdir() : '/tmp';
    dir = fs.mkdtempSync(path.join(parent, 'tradewind-'));
    fs.symlinkSync(dir, run);
  }
  if (process.getuid?.() === 0) fs.chownSync(dir, owner.uid, owner.gid);
  return dir;
}

/** Removes the socket folder of this or an earlier start, wherever it is. */
export function removeSocketDir(dataDir: string): void {
  const run = path.join(dataDir, 'run');
  // Undefined if `run` doesn't exist or is a real folder.
  const elsewhere = attempt(() => fs.readlinkSync(run));
  if (elsewhere === undefined) {
    fs.rmSync(run, { recursive: true, force: true });
    return;
  }
  // The temporary folder may have been emptied, or may belong to another user by now: then it isn't ours to clean.
  for (const file of [SOCKET_FILE, `${SOCKET_FILE}.lock`]) attempt(() => fs.unlinkSync(path.join(elsewhere, file)));
  attempt(() => fs.rmdirSync(elsewhere));
  fs.unlinkSync(run);
}

/** Returns how to connect to the server whose socket is in that folder. */
export function embeddedConnection(socketDir: string) {
  return { host: socketDir, port: SOCKET_PORT, user: ROLE, database: DATABASE };
}

/** Returns how to connect to the server that another process has started on the data folder; undefined if none runs. */
export function runningEmbedded(dataDir: string) {
  const run = path.join(dataDir, 'run');
  return fs.existsSync(run) ? embeddedConnection(fs.realpathSync(run)) : undefined;
}

function fits(dir: string): boolean {
  return Buffer.byteLength(path.join(dir, SOCKET_FILE)) <= LONGEST;
}
