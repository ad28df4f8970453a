import { hash, randomBytes } from 'node:crypto';
import { type Insertable, type Selectable, type SqlBool, sql, type Updateable } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';
import type { Tables } from '../../../db/tables.ts';

export type ProviderRow = Omit<Selectable<Tables['identity_providers']>, 'groups' | 'revision'> & {
  groups: MappedGroup[];
};

/** What the members of a group are, in which account. */
export interface MappedGroup {
  group: string;
  role_id: number;
  client_id: number;
}

/** Whose providers. */
export interface Owner {
  clientId: number | undefined;
  resellerId: number | undefined;
}

const MOST_STATES = 10_000;

const rows = (db: Sql) => db.selectFrom('identity_providers').selectAll().$castTo<ProviderRow>();

const ofOwner = (db: Sql, { clientId, resellerId }: Owner) =>
  rows(db).where((one) =>
    one.or([
      ...(clientId === undefined ? [] : [one('client_id', '=', clientId)]),
      ...(resellerId === undefined ? [] : [one('reseller_id', '=', resellerId)]),
    ]),
  );

export async function listProviders(db: Sql, owner: Owner): Promise<ProviderRow[]> {
  return ofOwner(db, owner).orderBy('id').execute();
}

export async function findProvider(db: Sql, owner: Owner, id: string): Promise<ProviderRow | undefined> {
  return ofOwner(db, owner).where('id', '=', id).executeTakeFirst();
}

export async function lockProvider(tx: Transaction, owner: Owner, id: string): Promise<ProviderRow | undefined> {
  return ofOwner(tx.sql, owner).where('id', '=', id).forUpdate().executeTakeFirst();
}

/** Returns a provider that people can sign in with. */
export async function findEnabled(db: Sql, id: string): Promise<ProviderRow | undefined> {
  return rows(db).where('id', '=', id).where('enabled', '=', true).executeTakeFirst();
}

/** Does the same; it stays so until the transaction ends. */
export async function keepEnabled(tx: Transaction, id: string): Promise<ProviderRow | undefined> {
  return rows(tx.sql).where('id', '=', id).where('enabled', '=', true).forShare().executeTakeFirst();
}

/** Counts the owner's providers, and lets nobody else make one before the transaction ends. */
export async function countForNew(tx: Transaction, owner: Owner): Promise<number> {
  const key = `tradewind identity providers ${owner.clientId ?? ''}/${owner.resellerId ?? ''}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(tx.sql);
  return (await listProviders(tx.sql, owner)).length;
}

export async function insertProvider(tx: Transaction, row: Insertable<Tables['identity_providers']>): Promise<void> {
  await tx.sql.insertInto('identity_providers').values(row).execute();
}

export async function updateProvider(tx: Transaction, id: string, change: Updateable<Tables['identity_providers']>) {
  await tx.sql.updateTable('identity_providers').set(change).where('id', '=', id).execute();
}

export async function deleteProvider(tx: Transaction, id: string): Promise<void> {
  await tx.sql.deleteFrom('identity_providers').where('id', '=', id).execute();
}

export async function deleteProvidersOf(tx: Transaction, clientId: number): Promise<void> {
  await tx.sql.deleteFrom('identity_providers').where('client_id', '=', clientId).execute();
}

/** Which of these accounts are the reseller's. */
export async function clientsOf(db: Sql, resellerId: number, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const found = await db
    .selectFrom('clients')
    .select('id')
    .where('id', 'in', ids)
    .where('reseller_id', '=', resellerId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
  return found.map(({ id }) => id);
}

const hashOf = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Keeps that a sign-in has begun, and returns its state. Forgets old ones. */
export async function insertState(tx: Transaction, providerId: string, browser: string): Promise<string> {
  const state = randomBytes(32).toString('base64url');
  await sql`
    insert into sign_in_states (hash, provider_id, browser_hash, expires_at)
    values (${hashOf(state)}, ${providerId}, ${hashOf(browser)}, now() + interval '10 minutes')`.execute(tx.sql);
  // Anybody may begin: what piles up must not fill the disk.
  await sql`
    delete from sign_in_states where hash in (
      select hash from sign_in_states where hash in (
        (select hash from sign_in_states where provider_id = ${providerId}
          order by expires_at desc offset ${MOST_STATES} limit 100)
        union all (select hash from sign_in_states where expires_at < now() limit 100))
      for update skip locked)`.execute(tx.sql);
  return state;
}

/** Takes the state of a sign-in that this browser began, once. Returns its provider. */
export async function takeState(tx: Transaction, state: string, browser: string): Promise<string | undefined> {
  const row = await tx.sql
    .deleteFrom('sign_in_states')
    .where('hash', '=', hashOf(state))
    .where('browser_hash', '=', hashOf(browser))
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('provider_id')
    .executeTakeFirst();
  return row?.provider_id;
}

/** Returns whom the provider means, if it has vouched for them before. */
export async function findIdentity(db: Sql, providerId: string, subject: string) {
  return db
    .selectFrom('identities')
    .innerJoin('users', 'users.id', 'identities.user_id')
    .select([
      'users.id',
      'users.email',
      'users.is_active',
      'users.reseller_id',
      'users.platform_administrator',
      'users.deleted_at',
      // The driver reads numbers in lists as texts.
      sql<number[]>`to_json(identities.shut_in)`.as('shut_in'),
    ])
    .where('identities.provider_id', '=', providerId)
    .where('identities.subject', '=', subject)
    .executeTakeFirst();
}

export async function insertIdentity(tx: Transaction, row: { provider_id: string; subject: string; user_id: number }) {
  await tx.sql
    .insertInto('identities')
    .values({ ...row, created_at: tx.now })
    .execute();
}

export async function updateIdentity(
  tx: Transaction,
  { providerId, subject }: { providerId: string; subject: string },
  change: { shut_in: number[]; last_used_at?: Date },
): Promise<void> {
  await tx.sql
    .updateTable('identities')
    .set(change)
    .where('provider_id', '=', providerId)
    .where('subject', '=', subject)
    .execute();
}

export async function deleteIdentity(tx: Transaction, providerId: string, subject: string): Promise<void> {
  await tx.sql.deleteFrom('identities').where('provider_id', '=', providerId).where('subject', '=', subject).execute();
}

/** Whether the provider has vouched for so many people. */
export async function hasIdentities(db: Sql, providerId: string, count: number): Promise<boolean> {
  const { rows: found } = await sql`
    select from identities where provider_id = ${providerId} offset ${count - 1} limit 1`.execute(db);
  return found.length > 0;
}

export async function forgetIdentities(tx: Transaction, providerId: string): Promise<void> {
  await tx.sql.deleteFrom('identities').where('provider_id', '=', providerId).execute();
}

/** Returns the user with that address, who can log in or be let in. */
export async function findByAddress(db: Sql, email: string) {
  return db
    .selectFrom('users')
    .select(['id', 'reseller_id', 'platform_administrator'])
    .select((user) => [
      user('password_hash', 'is not', null).$castTo<boolean>().as('has_password'),
      sql<boolean>`exists (select from identities where user_id = users.id)`.as('has_identity'),
      sql<number[]>`to_json(array(select client_id from client_users where user_id = users.id))`.as('client_ids'),
    ])
    .where('deleted_at', 'is', null)
    .where('pending', '=', false)
    .where(sql<SqlBool>`lower(email) = ${email.toLowerCase()}`)
    .executeTakeFirst();
}

/** Returns where the user is a member, among the accounts in which the provider has a say. */
export async function placesOf(db: Sql, userId: number, { client_id, reseller_id }: ProviderRow) {
  return db
    .selectFrom('client_users')
    .innerJoin('clients', 'clients.id', 'client_users.client_id')
    .select(['client_users.client_id', 'client_users.role_id', 'client_users.is_active'])
    .where('client_users.user_id', '=', userId)
    .where((one) =>
      client_id === null ? one('clients.reseller_id', '=', reseller_id) : one('clients.id', '=', client_id),
    )
    .orderBy('client_users.client_id')
    .execute();
}

export async function insertPlace(tx: Transaction, userId: number, { client_id, role_id }: Omit<MappedGroup, 'group'>) {
  await tx.sql.insertInto('client_users').values({ client_id, user_id: userId, role_id, created_at: tx.now }).execute();
}

/** The user may be known as one who signs in with a company. */
export async function markVouched(tx: Transaction, userId: number): Promise<void> {
  await sql`
    update users set auth_types = array_append(auth_types, 'sso')
    where id = ${userId} and not 'sso' = any(auth_types)`.execute(tx.sql);
}

/** Forgets the sign-ins that people have begun at the provider. */
export async function deleteStates(tx: Transaction, providerId: string): Promise<void> {
  await tx.sql.deleteFrom('sign_in_states').where('provider_id', '=', providerId).execute();
}
