import { randomBytes } from 'node:crypto';
import type { Transaction } from '../../db/database.ts';
import { secretHash } from '../identity/authenticate.ts';
import { announceTokens } from '../identity/credentials.ts';
import { insertToken, type NewToken } from './store.ts';

/**
 * Makes a token with a fresh secret. Its text can be told only now, since no more than a hash is kept. Announced,
 * because a process may remember that there was none of this id.
 */
export async function makeToken(
  tx: Transaction,
  token: Omit<NewToken, 'secretHash'>,
): Promise<{ id: number; secret: string }> {
  const secret = randomBytes(32).toString('hex');
  const id = await insertToken(tx.sql, { ...token, secretHash: secretHash(secret) });
  await announceTokens(tx, [id]);
  return { id, secret };
}
