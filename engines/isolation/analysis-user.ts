import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

export interface OsUser {
  uid: number;
  gid: number;
}

/**
 * Part of the range that systemd reserves for transient users of services: above people and packages, and
 * below 65536, where the users of a container usually end.
 */
const FIRST = 61_200;
const COUNT = 800;
const ROOT = 0;
/** A text for people. */
export const ANALYSIS_USERS = `${FIRST} to ${FIRST + COUNT - 1}`;
let used = randomInt(COUNT);

export const isRoot = () => process.getuid?.() === 0;

/** Returns an otherwise unused user for one analysis, so that the kernel's limits per user apply to that analysis. */
export function nextUser(): OsUser {
  const id = FIRST + (used++ % COUNT);
  return { uid: id, gid: id };
}

/** Lets the user enter the folder and read its contents. The folders around it stay closed. */
export function giveTo({ uid, gid }: OsUser, folder: string): void {
  for (const name of fs.readdirSync(folder)) fs.chownSync(path.join(folder, name), uid, gid);
  // Bubblewrap enters it as root without root's rights.
  fs.chownSync(folder, uid, ROOT);
  fs.chmodSync(folder, 0o710);
}
