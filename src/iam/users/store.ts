import type { Kysely, Updateable } from 'kysely';
import { type Transaction, violates } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import { InvalidError } from '../../lib/errors.ts';
import { ROLES } from '../identity/principal.ts';
import type { Language } from '../identity/tables.ts';

export interface UserRow {
  id: number;
  email: string;
  name: string | null;
  phone: string | null;
  lang: Language;
  home_id: number;
  home_reseller_id: number;
  reseller_id: number | null;
  platform_administrator: boolean;
  is_active: boolean;
  has_password: boolean;
  password_requested_at: Date | null;
  created_at: Date;
}

export interface Membership {
  user_id: number;
  client_id: number;
  role_id: number;
  company: string;
  reseller_id: number;
}

function users(db: Kysely<Tables>) {
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
      'users.platform_administrator',
      'users.is_active',
      row('users.password_hash', 'is not', null).$castTo<boolean>().as('has_password'),
      'users.password_requested_at',
      'users.created_at',
    ])
    .where('users.deleted_at', 'is', null);
}

/** The users of an account, in the order in which they were made. */
export async function listUsers(
  db: Kysely<Tables>,
  clientId: number,
  page: { limit: number; offset: number },
): Promise<{ count: number; rows: UserRow[] }> {
  const members = users(db)
    .innerJoin('client_users', 'client_users.user_id', 'users.id')
    .where('client_users.client_id', '=', clientId)
    .orderBy('users.id');
  return pageWithCount(members, page);
}

export async function findUser(db: Kysely<Tables>, id: number): Promise<UserRow | undefined> {
  return users(db).where('users.id', '=', id).executeTakeFirst();
}

/** Nobody deletes the user before the transaction ends. */
export async function keepUserByEmail(tx: Transaction, email: string): Promise<number | undefined> {
  const user = await tx.sql
    .selectFrom('users')
    .select('id')
    .where('deleted_at', 'is', null)
    .where((row) => row(row.fn<string>('lower', ['email']), '=', email.toLowerCase()))
    .forShare()
    .executeTakeFirst();
  return user?.id;
}

export async function membershipsOf(db: Kysely<Tables>, userIds: readonly number[]): Promise<Membership[]> {
  if (userIds.length === 0) return [];
  return db
    .selectFrom('client_users')
    .innerJoin('clients', 'clients.id', 'client_users.client_id')
    .select([
      'client_users.user_id',
      'client_users.client_id',
      'client_users.role_id',
      'clients.company',
      'clients.reseller_id',
    ])
    .where('client_users.user_id', 'in', userIds)
    .orderBy('client_users.client_id')
    .execute();
}

/** @throws InvalidError when another user has the address */
export async function updateUser(
  db: Kysely<Tables>,
  id: number,
  changes: Pick<Updateable<Tables['users']>, 'email' | 'name' | 'phone' | 'lang' | 'is_active'>,
  emailField = 'email',
): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await addressIsFree(emailField, () => db.updateTable('users').set(changes).where('id', '=', id).execute());
}

/** Rights of a reseller come with the place in its account, and stay behind. */
export async function moveHome(db: Kysely<Tables>, userId: number, clientId: number): Promise<void> {
  await db
    .updateTable('users')
    .set({ client_id: clientId, reseller_id: null })
    .where('id', '=', userId)
    .execute();
}

/** @throws InvalidError when another user has the address */
export async function insertUser(
  db: Kysely<Tables>,
  user: { email: string; name: string | null; lang: Language | undefined; clientId: number },
  now: Date,
): Promise<number> {
  const { id } = await addressIsFree('email', () =>
    db
      .insertInto('users')
      .values({
        client_id: user.clientId,
        reseller_id: null,
        email: user.email,
        name: user.name,
        ...(user.lang && { lang: user.lang }),
        platform_administrator: false,
        password_requested_at: now,
        created_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  return id;
}

/** Runs a write that gives a user an address. @throws InvalidError when another user has it */
export async function addressIsFree<T>(field: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!violates(error, 'users_by_email')) throw error;
    throw new InvalidError({ [field]: ['User with this email already exists.'] });
  }
}

/** False when the user belongs to the account already. */
export async function insertMembership(
  db: Kysely<Tables>,
  member: { clientId: number; userId: number; roleId: number },
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('client_users')
    .values({
      client_id: member.clientId,
      user_id: member.userId,
      role_id: member.roleId,
      created_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

export async function updateRole(
  db: Kysely<Tables>,
  { clientId, userId, roleId }: { clientId: number; userId: number; roleId: number },
): Promise<void> {
  await db
    .updateTable('client_users')
    .set({ role_id: roleId })
    .where('client_id', '=', clientId)
    .where('user_id', '=', userId)
    .execute();
}

export async function deleteMembership(
  db: Kysely<Tables>,
  { clientId, userId }: { clientId: number; userId: number },
): Promise<void> {
  await db
    .deleteFrom('client_users')
    .where('client_id', '=', clientId)
    .where('user_id', '=', userId)
    .execute();
}

export async function markDeleted(db: Kysely<Tables>, userId: number, now: Date): Promise<void> {
  await db
    .updateTable('users')
    .set({ deleted_at: now, password_hash: null })
    .where('id', '=', userId)
    .execute();
}

/** Who belongs to these accounts changes for one request at a time. */
export async function lockClients(tx: Transaction, clientIds: readonly number[]): Promise<void> {
  if (clientIds.length === 0) return;
  await tx.sql
    .selectFrom('clients')
    .select('id')
    .where('id', 'in', clientIds)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Accounts in which nobody but this user is an administrator who may get in. */
export async function accountsOnlyAdministeredBy(
  db: Kysely<Tables>,
  userId: number,
  clientIds: readonly number[],
): Promise<number[]> {
  if (clientIds.length === 0) return [];
  const rows = await db
    .selectFrom('client_users as own')
    .select('own.client_id')
    .where('own.user_id', '=', userId)
    .where('own.role_id', '=', ROLES.administrators.id)
    .where('own.client_id', 'in', clientIds)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('client_users as other')
            .innerJoin('users', 'users.id', 'other.user_id')
            .select('other.user_id')
            .whereRef('other.client_id', '=', 'own.client_id')
            .where('other.user_id', '!=', userId)
            .where('other.role_id', '=', ROLES.administrators.id)
            .where('users.is_active', '=', true)
            .where('users.deleted_at', 'is', null),
        ),
      ),
    )
    .orderBy('own.client_id')
    .execute();
  return rows.map(({ client_id }) => client_id);
}

/** API tokens of a user in some accounts that still work. */
export async function countTokens(
  db: Kysely<Tables>,
  userId: number,
  clientIds: readonly number[],
  now: Date,
): Promise<number> {
  if (clientIds.length === 0) return 0;
  const { count } = await db
    .selectFrom('api_tokens')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where('client_id', 'in', clientIds)
    .where('deleted_at', 'is', null)
    .where((token) => token.or([token('expires_at', 'is', null), token('expires_at', '>', now)]))
    .executeTakeFirstOrThrow();
  return count;
}
