import { randomBytes } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { announceTokens } from '../identity/in-transaction.ts';
import { secretHash } from '../identity/service.ts';

/**
 * Makes a token with a fresh secret. Only now is its text known, since only a hash is stored. The token is
 * announced, because a process may remember that the id did not exist.
 */
export async function makeToken(
  tx: Transaction,
  token: Omit<Insertable<Tables['api_tokens']>, 'secret_hash'>,
): Promise<{ id: number; secret: string }> {
  const secret = randomBytes(32).toString('hex');
  const { id } = await tx.sql
    .insertInto('api_tokens')
    .values({ ...token, secret_hash: secretHash(secret) })
    .returning('id')
    .executeTakeFirstOrThrow();
  await announceTokens(tx, [id]);
  return { id, secret };
}
