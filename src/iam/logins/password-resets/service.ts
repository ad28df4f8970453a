import type { Database, Transaction } from '../../../db/database.ts';
import { InvalidError } from '../../../lib/errors.ts';
import {
  isToken,
  newPersonalToken,
  type PersonalToken,
  readPersonalToken,
} from '../../../lib/personal-token.ts';
import type { Platform } from '../../../platform.ts';
import { setPassword } from '../../accounts/users/in-transaction.ts';
import { endLogins } from '../in-transaction.ts';
import { hashPassword } from '../passwords/service.ts';
import type { ResetPassword } from './schema.ts';
import { findReset, forgetReset, keepReset, lockUser } from './store.ts';

async function requireValid(
  on: Platform,
  sql: Database['sql'],
  token: PersonalToken | undefined,
): Promise<PersonalToken> {
  const reset = token && (await findReset(sql, token.userId, on.clock.now()));
  if (token && reset && isToken(token, reset.secret_hash)) return token;
  throw new InvalidError({
    token: ['Not valid: it was used, replaced by a later one or has expired. Ask for a new one.'],
  });
}

/** Sets the password and ends all logins of the user. @throws InvalidError for a token that isn't valid */
export async function resetPassword(on: Platform, { token: text, password }: ResetPassword): Promise<void> {
  const token = readPersonalToken('reset', text);
  // First, since a hash costs much.
  await requireValid(on, on.database.sql, token);
  const hash = await hashPassword(password);
  const ended = await on.database.transaction(async (tx) => {
    if (token) await lockUser(tx, token.userId);
    const { userId } = await requireValid(on, tx.sql, token);
    await setPassword(tx.sql, userId, { hash, rename: undefined, now: tx.now });
    await forgetReset(tx, userId);
    return endLogins(tx, { userId });
  });
  on.authenticator.forget(ended);
}

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
