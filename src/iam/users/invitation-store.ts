import { type Insertable, type SqlBool, sql } from 'kysely';
import type { Sql, Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import type { Reach } from '../../requests/principal.ts';
import { unassignSellers } from '../accounts/service.ts';

const lower = (email: string) => sql<SqlBool>`lower(users.email) = ${email.toLowerCase()}`;

const within = ({ clientId, resellerId, all }: Reach) => sql<SqlBool>`(
  ${all} or clients.id = ${clientId ?? null}::bigint or clients.reseller_id = ${resellerId ?? null}::bigint)`;

/** Returns the user with that address in the account, invited or joined. Doesn't look at other accounts. */
export async function findInAccount(db: Sql, clientId: number, email: string) {
  return db
    .selectFrom('users')
    .innerJoin('client_users', 'client_users.user_id', 'users.id')
    .select(['users.id', 'users.pending'])
    .where('client_users.client_id', '=', clientId)
    .where('users.deleted_at', 'is', null)
    .where(lower(email))
    .executeTakeFirst();
}

/** Counts invitations of an account: those not answered yet, and those made since. */
export async function countInvitations(db: Sql, clientId: number, since: Date) {
  return db
    .selectFrom('invitations')
    .select(({ fn }) => [
      fn.countAll<number>().filterWhere('ended_at', 'is', null).as('open'),
      fn.countAll<number>().filterWhere('created_at', '>', since).as('recent'),
    ])
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow();
}

export async function insertInvitation(tx: Transaction, invitation: Insertable<Tables['invitations']>): Promise<void> {
  await tx.sql.insertInto('invitations').values(invitation).execute();
}

/** Returns the users with an address in accounts within reach, including invited ones. */
export async function findByAddress(db: Sql, email: string, reach: Reach, limit: number) {
  return db
    .selectFrom('users')
    .innerJoin('client_users', 'client_users.user_id', 'users.id')
    .innerJoin('clients', 'clients.id', 'client_users.client_id')
    .select((user) => [
      'users.id',
      'clients.id as client_id',
      'users.pending',
      'users.reseller_id',
      user('users.password_hash', 'is not', null).$castTo<boolean>().as('has_password'),
    ])
    .where('users.deleted_at', 'is', null)
    .where(lower(email))
    .where(within(reach))
    .orderBy('users.id')
    .limit(limit)
    .execute();
}

/** Stores new secrets; the former ones become invalid. */
export async function renewInvitations(
  db: Sql,
  renewed: readonly { id: number; secretHash: Buffer }[],
  by: { invitedBy: number; expiresAt: Date },
): Promise<void> {
  await sql`
    update invitations set secret_hash = renewed.hash, invited_by = ${by.invitedBy}, expires_at = ${by.expiresAt}
      from unnest(${renewed.map(({ id }) => id)}::bigint[],
                  ${renewed.map(({ secretHash }) => secretHash)}::bytea[]) as renewed (id, hash)
     where invitations.user_id = renewed.id`.execute(db);
}

/**
 * Expires the invitations that the user made in these accounts, until somebody renews them. If the user's home is among
 * them, this includes those that the user made as its reseller. Call it before the user's home changes.
 */
export async function expireInvitations(
  db: Sql,
  { clientIds, invitedBy }: { clientIds: readonly number[]; invitedBy: number },
  now: Date,
): Promise<void> {
  await sql`
    update invitations set expires_at = ${now}
     where invited_by = ${invitedBy} and ended_at is null and expires_at > ${now}
       and (client_id = any(${[...clientIds]}::bigint[]) or client_id in (
         select clients.id from clients join users on users.reseller_id = clients.reseller_id
          where users.id = ${invitedBy} and users.client_id = any(${[...clientIds]}::bigint[])))`.execute(db);
}

/** Returns an unanswered invitation to an active account. */
export async function findInvitation(db: Sql, userId: number) {
  return db
    .selectFrom('invitations')
    .innerJoin('users', 'users.id', 'invitations.user_id')
    .innerJoin('clients', 'clients.id', 'invitations.client_id')
    .select([
      'invitations.user_id',
      'invitations.client_id',
      'users.email',
      'users.reseller_id',
      'invitations.secret_hash',
      'invitations.expires_at',
    ])
    .where('invitations.user_id', '=', userId)
    .where('invitations.ended_at', 'is', null)
    .where('users.pending', '=', true)
    .where('users.deleted_at', 'is', null)
    .where('clients.status', '=', 'active')
    .where('clients.deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Returns the user who logs in with that address, in whatever account. */
export async function findLogin(db: Sql, email: string) {
  return db
    .selectFrom('users')
    .select(['id', 'password_given'])
    .where('deleted_at', 'is', null)
    .where('pending', '=', false)
    .where(lower(email))
    .executeTakeFirst();
}

/** Turns the invited person into a user with that password. */
export async function begin(tx: Transaction, userId: number, passwordHash: string): Promise<void> {
  await tx.sql
    .updateTable('users')
    .set({ pending: false, password_hash: passwordHash, password_given: false })
    .where('id', '=', userId)
    .execute();
}

/** Gives a user the membership that was reserved for them, unless they are a member already. */
export async function takePlace(tx: Transaction, { of, to, clientId }: { of: number; to: number; clientId: number }) {
  await sql`
    update client_users set user_id = ${to} where client_id = ${clientId} and user_id = ${of}
       and not exists (select from client_users there where there.client_id = ${clientId} and there.user_id = ${to})`.execute(
    tx.sql,
  );
}

/** Deletes the row of an invited person who is a user already. */
export async function removeInvited(tx: Transaction, userId: number): Promise<void> {
  await tx.sql.deleteFrom('client_users').where('user_id', '=', userId).execute();
  await tx.sql.updateTable('users').set({ deleted_at: tx.now }).where('id', '=', userId).execute();
}

/** Deletes answered invitations, and withdraws those that expired before `expired`. */
export async function forgetInvitations(
  tx: Transaction,
  { now, madeBefore, expired }: { now: Date; madeBefore: Date; expired: Date },
): Promise<void> {
  await tx.sql
    .deleteFrom('invitations')
    .where('ended_at', 'is not', null)
    .where('created_at', '<', madeBefore)
    .execute();
  const gone = await tx.sql
    .deleteFrom('invitations')
    .where('ended_at', 'is', null)
    .where('expires_at', '<', expired)
    .returning('user_id')
    .execute();
  const ids = gone.map(({ user_id }) => user_id);
  if (ids.length === 0) return;
  await tx.sql.deleteFrom('client_users').where('user_id', 'in', ids).execute();
  await tx.sql.updateTable('users').set({ deleted_at: now }).where('id', 'in', ids).execute();
  await unassignSellers(tx.sql, ids);
}
