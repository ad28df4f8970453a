import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { secretHash } from '../identity/authenticate.ts';
import { insertToken, type NewToken } from './store.ts';

/** Makes a token with a fresh secret. Its text can be told only now, since no more than a hash is kept. */
export async function makeToken(
  sql: Kysely<Tables>,
  token: Omit<NewToken, 'secretHash'>,
): Promise<{ id: number; secret: string }> {
  const secret = randomBytes(32).toString('hex');
  return { id: await insertToken(sql, { ...token, secretHash: secretHash(secret) }), secret };
}
