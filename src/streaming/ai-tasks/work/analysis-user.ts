import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

export interface OsUser {
  uid: number;
  gid: number;
}

/**
 * Part of the range that systemd keeps for passing users of services: above people and packages, and below 65536,
 * which is as far as the users of a container usually go.
 */
const FIRST = 61_200;
const COUNT = 800;
const ROOT = 0;
/** For people. */
export const ANALYSIS_USERS = `${FIRST} to ${FIRST + COUNT - 1}`;
let used = randomInt(COUNT);

export const isRoot = () => process.getuid?.() === 0;

/** A user that is nobody, for one analysis: what the kernel counts for a user it then counts for that analysis. */
export function nextUser(): OsUser {
  const id = FIRST + (used++ % COUNT);
  return { uid: id, gid: id };
}

/** Lets the user into the folder, and read what is in it. Folders around it stay as closed as they are. */
export function giveTo({ uid, gid }: OsUser, folder: string): void {
  for (const name of fs.readdirSync(folder)) fs.chownSync(path.join(folder, name), uid, gid);
  // Bubblewrap enters it as root without root's rights.
  fs.chownSync(folder, uid, ROOT);
  fs.chmodSync(folder, 0o710);
}
