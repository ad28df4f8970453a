import { type Insertable, type Selectable, sql } from 'kysely';
import { type Sql, type Transaction, violates } from '../../../db/database.ts';
import type { Tables } from '../../../db/tables.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';

export async function insertUser(db: Sql, user: Insertable<Tables['users']>, roleId: number): Promise<number> {
  const { id } = await db.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow();
  await db
    .insertInto('client_users')
    .values({ client_id: user.client_id, user_id: id, role_id: roleId, created_at: user.created_at })
    .execute();
  return id;
}

export async function platformAdministrator(db: Sql): Promise<{ userId: number; clientId: number } | undefined> {
  return db
    .selectFrom('users')
    .select(['id as userId', 'client_id as clientId'])
    .where('platform_administrator', '=', true)
    .orderBy('id')
    .executeTakeFirst();
}

/** @throws ConflictError if the account is the platform administrator's */
export async function refusePlatforms(db: Sql, clientId: number): Promise<void> {
  const administrator = await db
    .selectFrom('users')
    .select('id')
    .where('client_id', '=', clientId)
    .where('platform_administrator', '=', true)
    .executeTakeFirst();
  if (administrator) throw new ConflictError(`Client ${clientId} is the platform administrator's own account`);
}

/** Returns false if `from` is no longer the hash of the user's password. */
export async function replacePassword(db: Sql, userId: number, { from, to }: { from: string; to: string }) {
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({ password_hash: to, password_given: false, password_requested_at: null })
    .where('id', '=', userId)
    .where('password_hash', '=', from)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** A user with the address before its last change. */
export type Addressed = Pick<
  Selectable<Tables['users']>,
  'id' | 'client_id' | 'email' | 'former_email' | 'email_changed_at'
>;

/** Sets a password, and another address if `rename` is given. @throws InvalidError if another user has that address */
export async function setPassword(
  db: Sql,
  userId: number,
  { hash, rename, now }: { hash: string; rename: string | undefined; now: Date },
): Promise<void> {
  try {
    if (rename !== undefined) await renameUser(db, userId, rename, now);
    await db
      .updateTable('users')
      .set({ password_hash: hash, password_given: false, password_requested_at: null })
      .where('id', '=', userId)
      .execute();
  } catch (error) {
    if (!violates(error, 'users_by_email')) throw error;
    throw new InvalidError({ rename: [`Another user has the address ${rename}.`] });
  }
}

async function renameUser(db: Sql, userId: number, email: string, now: Date): Promise<void> {
  await db
    .updateTable('users')
    .set((user) => ({ former_email: user.ref('email'), email, email_changed_at: now }))
    .where('id', '=', userId)
    .where('email', '!=', email)
    .execute();
}

/** Notes that a user asks for a new password. Returns the user, unless one was already noted after `since`. */
export async function notePasswordRequest(db: Sql, email: string, { now, since }: { now: Date; since: Date }) {
  return (
    db
      .updateTable('users')
      .set({ password_requested_at: now })
      .where((user) => user(user.fn<string>('lower', ['email']), '=', email.toLowerCase()))
      .where('deleted_at', 'is', null)
      .where('pending', '=', false)
      // Who has only ever come from an identity provider would keep the password after leaving the company.
      .where(sql<boolean>`(password_hash is not null or not exists (select from identities where user_id = users.id))`)
      .where((user) => user.or([user('password_requested_at', 'is', null), user('password_requested_at', '<', since)]))
      .returning(['id', 'client_id', 'email', 'former_email', 'email_changed_at'])
      .executeTakeFirst()
  );
}

/** The users of an account that goes to another reseller act for their former one no longer. Returns who they were. */
export async function endResellerAccess(db: Sql, clientId: number): Promise<number[]> {
  const ended = await db
    .updateTable('users')
    .set({ reseller_id: null })
    .where('client_id', '=', clientId)
    .where('reseller_id', 'is not', null)
    .where('platform_administrator', '=', false)
    .returning('id')
    .execute();
  return ended.map(({ id }) => id);
}

/** Expires the invitations that the previous reseller created. They can be renewed. */
export async function expireInvitations(db: Sql, clientId: number, now: Date): Promise<void> {
  await db
    .updateTable('invitations')
    .set({ expires_at: now })
    .where('client_id', '=', clientId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .execute();
}

/**
 * Takes some users out of an account that is being deleted. Those without another account are deleted. Returns how many
 * there were.
 */
export async function takeOutSome(tx: Transaction, clientId: number, { limit, now }: { limit: number; now: Date }) {
  const { rows } = await sql<{ id: number }>`
    select id from users where client_id = ${clientId} and deleted_at is null
      or id in (select user_id from client_users where client_id = ${clientId})
    order by id limit ${limit} for update`.execute(tx.sql);
  if (rows.length === 0) return 0;
  const ids = sql`${rows.map(({ id }) => id)}::bigint[]`;
  await sql`delete from client_users where client_id = ${clientId} and user_id = any(${ids})`.execute(tx.sql);
  // As for a single user: the next account becomes the home.
  await sql`
    update users set client_id = other.client_id, reseller_id = null
    from (
      select user_id, min(client_id) as client_id from client_users where user_id = any(${ids}) group by user_id
    ) as other
    where users.id = other.user_id and users.client_id = ${clientId}`.execute(tx.sql);
  await sql`
    update users set deleted_at = ${now}, password_hash = null
    where id = any(${ids}) and client_id = ${clientId} and deleted_at is null`.execute(tx.sql);
  await sql`
    update invitations set ended_at = ${now}
    where user_id = any(${ids}) and client_id = ${clientId} and ended_at is null`.execute(tx.sql);
  return rows.length;
}

/** Another user has the address. The message reveals that this user exists. */
export class AddressTakenError extends InvalidError {
  override get name(): string {
    return 'InvalidError';
  }

  constructor(field: string, message = 'User with this email already exists.') {
    super({ [field]: [message] });
  }
}
