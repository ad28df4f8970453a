import { type InferResult, sql, type Updateable } from 'kysely';
import { type Sql, type Transaction, violates } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import { ROLES } from '../../requests/principal.ts';
import { AddressTakenError } from '../accounts/users/in-transaction.ts';

function users(db: Sql) {
  return db
    .selectFrom('users')
    .innerJoin('clients as home', 'home.id', 'users.client_id')
    .select((row) => [
      'users.id',
      'users.email',
      'users.name',
      'users.phone',
      'users.lang',
      'users.client_id as home_id',
      'home.reseller_id as home_reseller_id',
      'users.reseller_id',
      'users.is_seller',
      'users.platform_administrator',
      'users.is_active',
      'users.auth_types',
      'users.pending',
      row('users.password_hash', 'is not', null).$castTo<boolean>().as('has_password'),
      sql<boolean>`exists (
        select from second_factors where user_id = users.id and confirmed_at is not null)`.as('two_fa'),
      sql<boolean>`exists (select from identities where user_id = users.id)`.as('sso_auth'),
    ])
    .where('users.deleted_at', 'is', null);
}

export type UserRow = InferResult<ReturnType<typeof users>>[number];

/** Lists the users of an account, in the order in which they were made. */
export async function listUsers(
  db: Sql,
  clientId: number,
  page: { limit: number; offset: number },
): Promise<{ count: number; rows: UserRow[] }> {
  const members = users(db)
    .innerJoin('client_users', 'client_users.user_id', 'users.id')
    .where('client_users.client_id', '=', clientId)
    .orderBy('users.id');
  return pageWithCount(members, page);
}

export async function findUser(db: Sql, id: number): Promise<UserRow | undefined> {
  return users(db).where('users.id', '=', id).executeTakeFirst();
}

export async function membershipsOf(db: Sql, userIds: readonly number[]) {
  if (userIds.length === 0) return [];
  return db
    .selectFrom('client_users')
    .innerJoin('clients', 'clients.id', 'client_users.client_id')
    .select([
      'client_users.user_id',
      'client_users.client_id',
      'client_users.role_id',
      'client_users.is_active',
      'clients.company',
      'clients.reseller_id',
    ])
    .where('client_users.user_id', 'in', userIds)
    .orderBy('client_users.client_id')
    .execute();
}

export type Membership = Awaited<ReturnType<typeof membershipsOf>>[number];

export async function updateUser(
  db: Sql,
  id: number,
  changes: Pick<Updateable<Tables['users']>, 'name' | 'phone' | 'lang' | 'auth_types' | 'is_active'>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await db.updateTable('users').set(changes).where('id', '=', id).execute();
}

/**
 * Returns the former address, which is kept as a warning for whoever sets a password for the user.
 * @throws InvalidError if another user has the address
 */
export async function changeAddress(
  db: Sql,
  id: number,
  { email, field, now }: { email: string; field: string; now: Date },
): Promise<string> {
  const { former_email } = await addressIsFree(field, () =>
    db
      .updateTable('users')
      .set((user) => ({ former_email: user.ref('email'), email, email_changed_at: now }))
      .where('id', '=', id)
      .returning('former_email')
      .executeTakeFirstOrThrow(),
  );
  return former_email ?? '';
}

/** Blocks or unblocks the user in these accounts. */
export async function setActiveIn(db: Sql, userId: number, clientIds: readonly number[], isActive: boolean) {
  if (clientIds.length === 0) return;
  await db
    .updateTable('client_users')
    .set({ is_active: isActive })
    .where('user_id', '=', userId)
    .where('client_id', 'in', clientIds)
    .execute();
}

/** A reseller's rights belong to the membership in its account, and are lost with it. */
export async function moveHome(db: Sql, userId: number, clientId: number): Promise<void> {
  await db.updateTable('users').set({ client_id: clientId, reseller_id: null }).where('id', '=', userId).execute();
}

/** Runs a write that gives a user an address. @throws InvalidError if another user has it */
export async function addressIsFree<T>(field: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!violates(error, 'users_by_email')) throw error;
    throw new AddressTakenError(field);
  }
}

export async function updateRole(
  db: Sql,
  { clientId, userId, roleId }: { clientId: number; userId: number; roleId: number },
): Promise<void> {
  await db
    .updateTable('client_users')
    .set({ role_id: roleId })
    .where('client_id', '=', clientId)
    .where('user_id', '=', userId)
    .execute();
}

export async function deleteMembership(db: Sql, { clientId, userId }: { clientId: number; userId: number }) {
  await db.deleteFrom('client_users').where('client_id', '=', clientId).where('user_id', '=', userId).execute();
}

/** Invitations that were not accepted yet end as well. */
export async function markDeleted(db: Sql, userId: number, now: Date): Promise<void> {
  await db.updateTable('users').set({ deleted_at: now, password_hash: null }).where('id', '=', userId).execute();
  await db
    .updateTable('invitations')
    .set({ ended_at: now })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .execute();
}

/** Only one request at a time may change the user's memberships. */
export async function lockUser(tx: Transaction, userId: number): Promise<void> {
  await tx.sql.selectFrom('users').select('id').where('id', '=', userId).forUpdate().execute();
}

/** Returns the accounts in which this user is the only administrator who may log in. */
export async function accountsOnlyAdministeredBy(
  db: Sql,
  userId: number,
  clientIds: readonly number[],
): Promise<number[]> {
  if (clientIds.length === 0) return [];
  const { rows } = await sql<{ client_id: number }>`
    select own.client_id from client_users own join users self on self.id = own.user_id
     where own.user_id = ${userId} and own.client_id = any(${[...clientIds]}::bigint[])
       and own.is_active and not self.pending and own.role_id = ${ROLES.administrators.id}
       and not exists (
         select from client_users other join users on users.id = other.user_id
          where other.client_id = own.client_id and other.user_id <> own.user_id
            and other.role_id = own.role_id and other.is_active
            and users.is_active and not users.pending and users.deleted_at is null)
     order by own.client_id`.execute(db);
  return rows.map(({ client_id }) => client_id);
}

/** Counts a user's valid API tokens in an account. */
export async function countTokens(db: Sql, userId: number, clientId: number, now: Date): Promise<number> {
  const { count } = await db
    .selectFrom('api_tokens')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .where('deleted_at', 'is', null)
    .where((token) => token.or([token('expires_at', 'is', null), token('expires_at', '>', now)]))
    .executeTakeFirstOrThrow();
  return count;
}
