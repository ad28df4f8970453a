import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { UnavailableError } from '../../lib/errors.ts';

/**
 * Each hash takes 19 MiB and a thread for some 30 ms (argon2id with the library's own figures, which are OWASP's).
 * More at a time would take the threads that the rest of the process needs.
 */
const AT_ONCE = 2;
const MOST_WAITING = 100;
const turns = pLimit(AT_ONCE);

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (turns.pendingCount >= MOST_WAITING) {
    throw new UnavailableError('Too many passwords are being checked at the moment; try again');
  }
  return turns(work);
}

/** What is kept of a password. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password));
}

let decoy: Promise<string> | undefined;

/** Takes as long for a user who has no password, or who isn't there, so that nobody learns which users there are. */
export async function isPasswordOf(known: string | null | undefined, password: string): Promise<boolean> {
  decoy ??= hash(randomBytes(32).toString('hex'));
  const kept = known ?? (await decoy);
  const matches = await inTurn(() => verify(kept, password));
  return matches && typeof known === 'string';
}
