import * as crypto from 'node:crypto';
import { sql } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';
import { newPersonalToken, readPersonalToken } from '../../../lib/personal-token.ts';

const CHALLENGE_MS = 5 * 60_000;
/** For one user. Somebody who knows the password can ask for many. */
const MOST_CHALLENGES = 10;
const CODES = 10;
/** Without letters and digits that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const CODE_LENGTH = 16;

export async function factorsOf(db: Sql, userId: number) {
  return db
    .selectFrom('second_factors')
    .select(['id', 'kind', 'name', 'created_at', 'last_used_at', 'credential_id', 'transports'])
    .where('user_id', '=', userId)
    .where('confirmed_at', 'is not', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export async function countCodes(db: Sql, userId: number): Promise<number> {
  const { count } = await db
    .selectFrom('recovery_codes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Nobody else changes what signs this user in until the transaction ends. */
export async function lockUser(tx: Transaction, userId: number): Promise<void> {
  await tx.sql.selectFrom('users').select('id').where('id', '=', userId).forUpdate().execute();
}

/* Challenges: what a user has to answer within five minutes, once. */

export type Purpose = 'log_in' | 'enrol' | 'add_passkey';

export const passwordVersion = (passwordHash: string | null): Buffer =>
  crypto.hash('sha256', passwordHash ?? '', 'buffer');
export const hashOfPasskeyChallenge = (challenge: string): Buffer => crypto.hash('sha256', challenge, 'buffer');

/** Returns the text of a new challenge, once the right password was given. */
export async function insertLoginChallenge(
  tx: Transaction,
  user: { id: number; password_hash: string | null },
  purpose: Purpose,
): Promise<{ text: string; expiresAt: Date }> {
  const { text, secretHash } = newPersonalToken('challenge', user.id);
  const expiresAt = new Date(tx.now.getTime() + CHALLENGE_MS);
  await insertChallenge(tx, {
    hash: secretHash,
    userId: user.id,
    purpose,
    version: passwordVersion(user.password_hash),
  });
  return { text, expiresAt };
}

export async function insertChallenge(
  tx: Transaction,
  challenge: { hash: Buffer; userId: number; purpose: Purpose; version?: Buffer },
): Promise<void> {
  const { hash, userId, purpose, version = null } = challenge;
  const expires_at = new Date(tx.now.getTime() + CHALLENGE_MS);
  await tx.sql
    .insertInto('sign_in_challenges')
    .values({ hash, user_id: userId, purpose, password_version: version, expires_at })
    .execute();
  await sql`
    delete from sign_in_challenges where hash in (
      select hash from sign_in_challenges where hash in (
        select hash from sign_in_challenges where user_id = ${userId}
        order by expires_at desc offset ${MOST_CHALLENGES})
      for update skip locked)`.execute(tx.sql);
}

/** Returns a challenge of a login that may go on. Undefined also if the password has changed since. */
export async function findLoginChallenge(db: Sql, text: string, now: Date) {
  const token = readPersonalToken('challenge', text);
  if (!token) return undefined;
  const found = await db
    .selectFrom('sign_in_challenges as challenge')
    .innerJoin('users', 'users.id', 'challenge.user_id')
    .select(['challenge.hash', 'challenge.purpose', 'challenge.passkey_challenge', 'challenge.password_version'])
    .select(['users.id', 'users.client_id', 'users.email', 'users.password_hash'])
    .where('challenge.hash', '=', token.secretHash)
    .where('challenge.user_id', '=', token.id)
    .where('challenge.purpose', 'in', ['log_in', 'enrol'])
    .where('challenge.expires_at', '>', now)
    .where('users.is_active', '=', true)
    .where('users.pending', '=', false)
    .where('users.deleted_at', 'is', null)
    .executeTakeFirst();
  return found?.password_version?.equals(passwordVersion(found.password_hash)) ? found : undefined;
}

/** Uses a challenge up. Undefined if another request has done so. */
export async function takeChallenge(
  tx: Transaction,
  hash: Buffer,
  of: { userId: number; purpose: Purpose },
  now: Date,
) {
  return tx.sql
    .deleteFrom('sign_in_challenges')
    .where('hash', '=', hash)
    .where('user_id', '=', of.userId)
    .where('purpose', '=', of.purpose)
    .where('expires_at', '>', now)
    .returning('passkey_challenge')
    .executeTakeFirst();
}

/** A passkey's challenge is answered once, whether well or not. */
export async function setPasskeyChallenge(db: Sql, hash: Buffer, passkeyChallenge: string | null): Promise<void> {
  await db
    .updateTable('sign_in_challenges')
    .set({ passkey_challenge: passkeyChallenge })
    .where('hash', '=', hash)
    .execute();
}

/* Recovery codes. */

const hashOfCode = (userId: number, code: string): Buffer =>
  crypto.hash('sha256', `${userId}:${code.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`, 'buffer');

const newCode = (): string => {
  const letters = Array.from({ length: CODE_LENGTH }, () => LETTERS[crypto.randomInt(LETTERS.length)]).join('');
  return letters.replaceAll(/(.{4})(?=.)/g, '$1-');
};

/** Returns new recovery codes; the former ones are worthless. */
export async function renewCodes(tx: Transaction, userId: number): Promise<string[]> {
  const codes = Array.from({ length: CODES }, newCode);
  await tx.sql.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
  await tx.sql
    .insertInto('recovery_codes')
    .values(codes.map((code) => ({ user_id: userId, hash: hashOfCode(userId, code) })))
    .execute();
  return codes;
}

/** Uses a recovery code up. Returns false if it isn't one. */
export async function useRecoveryCode(tx: Transaction, userId: number, code: string): Promise<boolean> {
  const used = await tx.sql
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('hash', '=', hashOfCode(userId, code))
    .returning('user_id')
    .executeTakeFirst();
  return used !== undefined;
}

/* Factors. */

/** Returns the user's app that makes codes, locked. `confirmed`: whether it is a factor already. */
export async function lockTotp(tx: Transaction, userId: number, confirmed: boolean) {
  return tx.sql
    .selectFrom('second_factors')
    .select(['id', 'name', 'secret', 'last_step'])
    .where('user_id', '=', userId)
    .where('kind', '=', 'totp')
    .where('confirmed_at', confirmed ? 'is not' : 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

export async function noteStep(tx: Transaction, id: string, step: number): Promise<void> {
  await tx.sql
    .updateTable('second_factors')
    .set((factor) => ({
      last_step: step,
      last_used_at: tx.now,
      confirmed_at: factor.fn.coalesce('confirmed_at', factor.val(tx.now)),
    }))
    .where('id', '=', id)
    .execute();
}

/** Replaces an app that was never confirmed. */
export async function insertTotp(
  tx: Transaction,
  factor: { id: string; userId: number; name: string; secret: string },
) {
  const { userId, ...rest } = factor;
  await tx.sql
    .deleteFrom('second_factors')
    .where('user_id', '=', userId)
    .where('kind', '=', 'totp')
    .where('confirmed_at', 'is', null)
    .execute();
  await tx.sql
    .insertInto('second_factors')
    .values({ ...rest, user_id: userId, kind: 'totp', created_at: tx.now })
    .execute();
}

export async function lockPasskey(tx: Transaction, userId: number, credentialId: string) {
  return tx.sql
    .selectFrom('second_factors')
    .select(['id', 'public_key', 'counter', 'transports'])
    .where('user_id', '=', userId)
    .where('kind', '=', 'passkey')
    .where('credential_id', '=', credentialId)
    .forUpdate()
    .executeTakeFirst();
}

export async function noteCounter(tx: Transaction, id: string, counter: number): Promise<void> {
  await tx.sql.updateTable('second_factors').set({ counter, last_used_at: tx.now }).where('id', '=', id).execute();
}

export async function removeFactor(tx: Transaction, userId: number, id: string) {
  return tx.sql
    .deleteFrom('second_factors')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .where('confirmed_at', 'is not', null)
    .returning('name')
    .executeTakeFirst();
}

/** Removes everything but the password that signs the user in. Returns how many factors there were. */
export async function removeAll(tx: Transaction, userId: number): Promise<number> {
  const gone = await tx.sql.deleteFrom('second_factors').where('user_id', '=', userId).returning('id').execute();
  await tx.sql.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
  await tx.sql.deleteFrom('sign_in_challenges').where('user_id', '=', userId).execute();
  return gone.length;
}

/** Whether an account of the user requires a second factor of them. */
export async function isRequired(db: Sql, userId: number): Promise<boolean> {
  const { rows } = await sql`
    select from client_users join sign_in_policies using (client_id)
     where user_id = ${userId} and second_factor = 'required' and (role_ids is null or role_id = any(role_ids))
     limit 1`.execute(db);
  return rows.length > 0;
}

/** Deletes what has expired, and what users had who were deleted with their account. */
export async function deleteOld(tx: Transaction, now: Date): Promise<void> {
  await tx.sql.deleteFrom('sign_in_challenges').where('expires_at', '<', now).execute();
  for (const table of [sql.table('second_factors'), sql.table('recovery_codes')]) {
    await sql`
      delete from ${table} using users
       where users.id = ${table}.user_id and users.deleted_at is not null`.execute(tx.sql);
  }
}
