import { type InferResult, type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import type { Reach } from '../../requests/principal.ts';
import { ROLES } from '../../requests/principal.ts';

export type LoginRow = Selectable<Tables['login_sessions']>;

export async function insertLogin(db: Sql, login: Insertable<Tables['login_sessions']>) {
  return db.insertInto('login_sessions').values(login).returning(['id', 'key']).executeTakeFirstOrThrow();
}

/** Nobody can end the login before the transaction ends. */
export async function keepLogin(db: Sql, id: number): Promise<LoginRow | undefined> {
  return logins(db, id).forShare().executeTakeFirst();
}

/** If two callers use the same refresh token, one waits for the other. */
export async function lockLogin(db: Sql, id: number): Promise<LoginRow | undefined> {
  return logins(db, id).forUpdate().executeTakeFirst();
}

function logins(db: Sql, id: number) {
  return db.selectFrom('login_sessions').selectAll().where('id', '=', id);
}

export async function renewLogin(db: Sql, id: number, renewed: Pick<LoginRow, 'refresh_id' | 'expires_at'>) {
  return db
    .updateTable('login_sessions')
    .set((login) => ({ ...renewed, key: login.fn.coalesce('key', sql<string>`gen_random_uuid()`) }))
    .where('id', '=', id)
    .returning(['id', 'key'])
    .executeTakeFirstOrThrow();
}

export type UserToLogIn = InferResult<ReturnType<typeof usersToLogIn>>[number];

/** Returns undefined if no user who may log in has that address. */
export async function findUserByEmail(db: Sql, email: string): Promise<UserToLogIn | undefined> {
  return usersToLogIn(db)
    .where((user) => user(user.fn<string>('lower', ['email']), '=', email.toLowerCase()))
    .executeTakeFirst();
}

export async function findUserById(db: Sql, id: number): Promise<UserToLogIn | undefined> {
  return usersToLogIn(db).where('id', '=', id).executeTakeFirst();
}

const factorsOf = (userId: RawBuilder<unknown>) =>
  sql`select from second_factors where second_factors.user_id = ${userId} and confirmed_at is not null`;

function usersToLogIn(db: Sql) {
  return db
    .selectFrom('users')
    .select(['id', 'client_id', 'email', 'password_hash'])
    .select(sql<boolean>`exists (${factorsOf(sql.ref('users.id'))})`.as('has_second_factor'))
    .where('is_active', '=', true)
    .where('pending', '=', false)
    .where('deleted_at', 'is', null);
}

/**
 * Nobody can change the password before the transaction ends, so that whoever does ends its logins too. Returns
 * false if somebody has changed it since the user was read.
 */
export async function keepPassword(db: Sql, user: UserToLogIn): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('id', '=', user.id)
    .where('password_hash', '=', user.password_hash)
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** A user's membership in an account, as tokens describe it. `lacks_factor`: the account requires a second factor, and the user has none. `needs_provider`: passwords let nobody like the user in. */
export type MembershipRow = InferResult<ReturnType<typeof memberships>>[number];

/** Returns the accounts that a user may enter; the home account comes first. */
export async function membershipsOf(db: Sql, userId: number): Promise<MembershipRow[]> {
  return memberships(db).where('client_users.user_id', '=', userId).execute();
}

export async function administratorsOf(db: Sql, clientId: number): Promise<MembershipRow[]> {
  return memberships(db)
    .where('client_users.client_id', '=', clientId)
    .where('client_users.role_id', '=', ROLES.administrators.id)
    .execute();
}

function memberships(db: Sql) {
  return db
    .selectFrom('client_users')
    .innerJoin('users', 'users.id', 'client_users.user_id')
    .innerJoin('clients', 'clients.id', 'client_users.client_id')
    .innerJoin('clients as home', 'home.id', 'users.client_id')
    .select([
      'client_users.user_id',
      'client_users.client_id',
      'client_users.role_id',
      'users.email',
      'users.reseller_id',
      'users.is_seller',
      'users.platform_administrator',
      'users.client_id as home_id',
      'home.reseller_id as home_reseller_id',
      'clients.company',
    ])
    .select(
      sql<boolean>`exists (
          select from sign_in_policies
           where sign_in_policies.client_id = client_users.client_id and second_factor = 'required'
             and (role_ids is null or client_users.role_id = any(role_ids)))
        and not exists (${factorsOf(sql.ref('client_users.user_id'))})`.as('lacks_factor'),
    )
    .select(
      sql<boolean>`exists (
          select from identity_providers
           where identity_providers.client_id = client_users.client_id and enabled and required)
        and not (client_users.role_id = ${ROLES.administrators.id}
          and exists (${factorsOf(sql.ref('client_users.user_id'))}))`.as('needs_provider'),
    )
    .where('client_users.is_active', '=', true)
    .where('users.is_active', '=', true)
    .where('users.pending', '=', false)
    .where('users.deleted_at', 'is', null)
    .where('clients.status', '=', 'active')
    .where('clients.deleted_at', 'is', null)
    .orderBy((row) => row('client_users.client_id', '=', row.ref('users.client_id')), 'desc')
    .orderBy('client_users.client_id')
    .orderBy('client_users.user_id');
}

/** Whether an identity provider has a say in an account. */
export async function hasSay(db: Sql, providerId: string, clientId: number): Promise<boolean> {
  const { rows } = await sql`
    select from identity_providers join clients on clients.id = ${clientId}
     where identity_providers.id = ${providerId} and enabled
       and (identity_providers.client_id = clients.id or identity_providers.reseller_id = clients.reseller_id)`.execute(
    db,
  );
  return rows.length > 0;
}

/** Returns an API token that nobody can revoke before the transaction ends. Undefined if it was revoked already. */
export async function keepToken(db: Sql, tokenId: number) {
  return db
    .selectFrom('api_tokens')
    .select('expires_at')
    .where('id', '=', tokenId)
    .where('deleted_at', 'is', null)
    .forShare()
    .executeTakeFirst();
}

/** Returns the user with that address, by default the platform administrator. */
export async function findUserForOperator(db: Sql, email: string | undefined) {
  return db
    .selectFrom('users')
    .select(['id', 'client_id as clientId', 'email', 'former_email', 'email_changed_at'])
    .where('deleted_at', 'is', null)
    .where('pending', '=', false)
    .where((user) =>
      email === undefined
        ? user('platform_administrator', '=', true)
        : user(user.fn<string>('lower', ['email']), '=', email.toLowerCase()),
    )
    .orderBy('id')
    .executeTakeFirst();
}

/** Whether a user with that address, who has joined, belongs to an account within reach. */
export async function belongsTo(db: Sql, email: string, reach: Reach): Promise<boolean> {
  const { rows } = await sql`
    select from users
      join client_users on client_users.user_id = users.id
      join clients on clients.id = client_users.client_id
     where lower(users.email) = ${email.toLowerCase()} and users.deleted_at is null and not users.pending
       and (${reach.all} or clients.id = ${reach.clientId ?? null}::bigint
            or clients.reseller_id = ${reach.resellerId ?? null}::bigint)
     limit 1`.execute(db);
  return rows.length > 0;
}

/** Forgets the user's oldest attempts, or the oldest with unknown names, so that not more than `most` are left. */
export async function insertAttempt(db: Sql, attempt: Insertable<Tables['login_attempts']>, most: number) {
  await db.insertInto('login_attempts').values(attempt).execute();
  const whose = attempt.user_id === null ? sql`user_id is null` : sql`user_id = ${attempt.user_id}`;
  await sql`
    delete from login_attempts where id in (
      select id from login_attempts where id in (
        select id from login_attempts where ${whose} order by id desc offset ${most})
      for update skip locked)`.execute(db);
}

/**
 * Newest first: attempts for users who belong to this account and no other, for `userId` in any case, and
 * with `strangers` also for unknown names.
 */
export async function listAttempts(
  db: Sql,
  of: { clientId: number; userId: number | undefined; strangers: boolean },
  page: { limit: number; offset: number },
) {
  const users = sql<number>`(
    select own.user_id from client_users own where own.client_id = ${of.clientId} and not exists (
      select from client_users other where other.user_id = own.user_id and other.client_id <> own.client_id))`;
  const attempts = db
    .selectFrom('login_attempts')
    .selectAll()
    .where((attempt) =>
      attempt.or([
        attempt('user_id', 'in', users),
        ...(of.userId === undefined ? [] : [attempt('user_id', '=', of.userId)]),
        ...(of.strangers ? [attempt('user_id', 'is', null)] : []),
      ]),
    )
    .orderBy('id', 'desc');
  return pageWithCount(attempts, page);
}

export async function deleteOldLogins(db: Sql, { now, attemptsBefore }: { now: Date; attemptsBefore: Date }) {
  await db.deleteFrom('login_sessions').where('expires_at', '<', now).execute();
  await db.deleteFrom('login_attempts').where('created_at', '<', attemptsBefore).execute();
}
