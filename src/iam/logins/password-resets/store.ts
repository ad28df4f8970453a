import { sql } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';

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
export async function findReset(
  db: Sql,
  userId: number,
  now: Date,
): Promise<{ secret_hash: Buffer } | undefined> {
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

export async function forgetReset(tx: Transaction, userId: number): Promise<void> {
  await tx.sql.deleteFrom('password_resets').where('user_id', '=', userId).execute();
}
