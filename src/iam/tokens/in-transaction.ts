import { randomBytes } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { announceTokens } from '../identity/in-transaction.ts';
import { secretHash } from '../identity/service.ts';

/**
 * Makes a token with a fresh secret. Its text can be told only now, since no more than a hash is kept. Announced,
 * because a process may remember that there was none of this id.
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
