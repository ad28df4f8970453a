import { sql } from 'kysely';
import type { Database, Sql, Transaction } from '../../../db/database.ts';
import { InvalidError } from '../../../lib/errors.ts';
import { isToken, newPersonalToken, type PersonalToken, readPersonalToken } from '../../../lib/personal-token.ts';
import type { Platform } from '../../../platform.ts';
import { setPassword } from '../../accounts/users/in-transaction.ts';
import { endLogins } from '../in-transaction.ts';
import { hashPassword } from '../passwords/service.ts';
import type { ResetPassword } from './schema.ts';

/** Whoever sets the password of this user waits. */
export async function lockUser(tx: Transaction, userId: number): Promise<void> {
  await tx.sql.selectFrom('users').select('id').where('id', '=', userId).forUpdate().execute();
}

export async function keepReset(
  tx: Transaction,
  reset: { user_id: number; secret_hash: Buffer; asked_at: Date; expires_at: Date },
): Promise<void> {
  const { user_id: _, ...rest } = reset;
  await tx.sql
    .insertInto('password_resets')
    .values(reset)
    .onConflict((one) => one.column('user_id').doUpdateSet(rest))
    .execute();
}

/** Returns what a user may set a password with, if neither password nor address has changed since they asked for it. */
export async function findReset(db: Sql, userId: number, now: Date): Promise<{ secret_hash: Buffer } | undefined> {
  return db
    .selectFrom('password_resets as reset')
    .innerJoin('users', (on) =>
      on.onRef('users.id', '=', 'reset.user_id').onRef('users.password_requested_at', '=', 'reset.asked_at'),
    )
    .select('reset.secret_hash')
    .where('reset.user_id', '=', userId)
    .where('reset.expires_at', '>', now)
    .where('users.deleted_at', 'is', null)
    .where('users.pending', '=', false)
    .where(sql<boolean>`(users.email_changed_at is null or users.email_changed_at < reset.asked_at)`)
    .executeTakeFirst();
}

async function requireValid(on: Platform, sql: Database['sql'], token: PersonalToken | undefined) {
  const reset = token && (await findReset(sql, token.id, on.clock.now()));
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
    if (token) await lockUser(tx, token.id);
    const { id: userId } = await requireValid(on, tx.sql, token);
    await setPassword(tx.sql, userId, { hash, rename: undefined, now: tx.now });
    await tx.sql.deleteFrom('password_resets').where('user_id', '=', userId).execute();
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
  await keepReset(tx, { user_id: userId, secret_hash: secretHash, asked_at: askedAt, expires_at: expiresAt });
  return { token, expiresAt };
}
