import type { Transaction } from '../../../db/database.ts';
import { newPersonalToken } from '../../../lib/personal-token.ts';
import { keepReset } from './store.ts';

const VALID_MS = 2 * 3_600_000;

/** Returns the token with which a user may set another password, once. An earlier one is worthless. */
export async function beginReset(
  tx: Transaction,
  userId: number,
  askedAt: Date,
): Promise<{ token: string; expiresAt: Date }> {
  const { text: token, secretHash } = newPersonalToken('reset', userId);
  const expiresAt = new Date(askedAt.getTime() + VALID_MS);
  await keepReset(tx, {
    user_id: userId,
    secret_hash: secretHash,
    asked_at: askedAt,
    expires_at: expiresAt,
  });
  return { token, expiresAt };
}
