import { type Insertable, type RawBuilder, sql } from 'kysely';
import { onlyChecked, type Sql, type Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { ConflictError, NotFoundError } from '../../lib/errors.ts';
import { allows, type Principal, requirePlatform } from '../../requests/principal.ts';

export interface ClientEntry {
  id: number;
  resellerId: number;
}

/** Returns the account unless it is deleted. */
export async function findClient(db: Sql, clientId: number): Promise<ClientEntry | undefined> {
  return db
    .selectFrom('clients')
    .select(['id', 'reseller_id as resellerId'])
    .where('id', '=', clientId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Returns undefined if there is no such reseller, or no more. */
export async function nameOfReseller(db: Sql, id: number): Promise<string | undefined> {
  return (await reseller(db, id).executeTakeFirst())?.name;
}

const reseller = (db: Sql, id: number) =>
  db.selectFrom('resellers').select('name').where('id', '=', id).where('deleted_at', 'is', null);

/** Whether the user is one of the reseller's users, who look after its clients. Stays so until the transaction ends. */
export async function worksForReseller(tx: Transaction, userId: number, resellerId: number): Promise<boolean> {
  const seller = await tx.sql
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .where('reseller_id', '=', resellerId)
    .where('deleted_at', 'is', null)
    .forShare()
    .executeTakeFirst();
  return seller !== undefined;
}

/** Whether the caller may act for the account as its reseller; the platform administrator may for all accounts. */
export function resells(principal: Principal, client: Pick<ClientEntry, 'resellerId'>): boolean {
  if (principal.platformAdministrator) return true;
  return allows(principal, 'resell') && principal.resellerId === client.resellerId;
}

/** What only the platform administrator does. */
export const RESELLER_DUTY = 'manages resellers';
/** @throws ForbiddenError */
export const requireResellerManager = (principal: Principal): void => requirePlatform(principal, RESELLER_DUTY);

/** Whether there is such a reseller. It stays until the transaction ends. */
export async function keepReseller(db: Sql, id: number): Promise<boolean> {
  return (await reseller(db, id).forShare().executeTakeFirst()) !== undefined;
}

/** Returns the task that deletes the account; undefined if there is none. */
export async function deletingTask(db: Sql, clientId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('deletions')
    .select('task_id')
    .where('client_id', '=', clientId)
    .where('project_id', 'is', null)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return row?.task_id;
}

/** Locks accounts, so that only one request at a time changes their users and what they own. */
export async function lockClients(tx: Transaction, clientIds: readonly number[]): Promise<void> {
  if (clientIds.length === 0) return;
  await tx.sql.selectFrom('clients').select('id').where('id', 'in', clientIds).orderBy('id').forNoKeyUpdate().execute();
}

/**
 * Locks an account that the caller manages as its reseller, or as the platform administrator. It stays with its reseller
 * until the transaction ends.
 * @throws NotFoundError for all other accounts
 */
export async function lockManaged(tx: Transaction, principal: Principal, clientId: number): Promise<ClientEntry> {
  await lockClients(tx, [clientId]);
  return requireManaged(tx.sql, principal, clientId);
}

/** Does the same without locking it. @throws NotFoundError */
export async function requireManaged(db: Sql, principal: Principal, clientId: number): Promise<ClientEntry> {
  const client = await findClient(db, clientId);
  if (!client || !resells(principal, client)) throw new NotFoundError('Client', clientId);
  return client;
}

/** Locks an account and those that these of its users look after, all in the order of `lockClients`. */
export async function lockWithLookedAfter(
  tx: Transaction,
  clientId: number,
  by: { userId: number } | 'anybody there',
): Promise<void> {
  await tx.sql
    .selectFrom('clients')
    .select('id')
    .where((client) =>
      client.or([
        client('id', '=', clientId),
        by === 'anybody there'
          ? client('seller_id', 'in', client.selectFrom('users').select('id').where('client_id', '=', clientId))
          : client('seller_id', '=', by.userId),
      ]),
    )
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/**
 * Locks all accounts of a reseller, then the reseller: none comes, and none begins to use what its defaults allow. One
 * that came between the two is locked late, which a deadlock in that moment would repeat.
 */
export async function lockAllOf(tx: Transaction, resellerId: number): Promise<void> {
  const lockAccounts = () =>
    tx.sql
      .selectFrom('clients')
      .select('id')
      .where('reseller_id', '=', resellerId)
      .where('deleted_at', 'is', null)
      .orderBy('id')
      .forNoKeyUpdate()
      .execute();
  await lockAccounts();
  await tx.sql.selectFrom('resellers').select('id').where('id', '=', resellerId).forNoKeyUpdate().execute();
  await lockAccounts();
}

/** Changes the account's address with its first user's, unless it has its own. Call it before changing the user. */
export async function followAddress(db: Sql, userId: number, email: string): Promise<void> {
  await sql`
    update clients set email = ${email} from users
    where users.id = ${userId} and clients.id = users.client_id and clients.email = users.email`.execute(db);
}

/** Locks an account to which something is added. @throws NotFoundError, ConflictError while it is being deleted */
export async function lockToAdd(tx: Transaction, clientId: number): Promise<void> {
  const client = await tx.sql
    .selectFrom('clients')
    .select('deleted_at')
    .where('id', '=', clientId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!client || client.deleted_at) throw new NotFoundError('Client', clientId);
  const task = await deletingTask(tx.sql, clientId);
  if (task !== undefined)
    throw new ConflictError(`Client ${clientId} is being deleted by task ${task} and takes in nothing new`);
}

/** Gives accounts a new version, because something that is shown with them has changed. They must be locked. */
export async function renewVersions(db: Sql, clientIds: readonly number[]): Promise<void> {
  if (clientIds.length === 0) return;
  await db
    .updateTable('clients')
    .set((client) => ({ status: client.ref('status') }))
    .where((client) => client('id', '=', client.fn.any(client.val([...clientIds]))))
    .execute();
}

/** An account, and what decides whether it can go. */
export interface WholeClient {
  id: number;
  resellerId: number;
  status: 'active' | 'paused';
  deletedAt: Date | null;
  /** Whether users of the account act for its reseller. */
  isOfReseller: boolean;
}

const WHOLE = sql<WholeClient>`
  select clients.id, reseller_id as "resellerId", status, deleted_at as "deletedAt", exists (
    select from users
    where users.client_id = clients.id and users.reseller_id is not null and users.deleted_at is null
  ) as "isOfReseller"
  from clients`;

/** Returns an account, locked until the transaction ends. */
export async function lockWholeClient(tx: Transaction, clientId: number): Promise<WholeClient | undefined> {
  const { rows } = await sql<WholeClient>`${WHOLE} where id = ${clientId} for no key update`.execute(tx.sql);
  return rows[0];
}

/** Clients that are named when there are too many to delete their reseller. */
const SHOWN = 10;

/** SQL: the own account of the reseller with that ID, where its users are; null if there is none. */
export const ownAccountOf = (reseller: RawBuilder<number>): RawBuilder<number | null> => sql`(
  select min(clients.id) from clients
  where clients.reseller_id = ${reseller} and clients.deleted_at is null and exists (
    select from users
    where users.client_id = clients.id and users.reseller_id = ${reseller} and users.deleted_at is null))`;

/** Returns a reseller that is not deleted, locked with its own account, and its accounts: its own one first. */
export async function lockReseller(
  tx: Transaction,
  resellerId: number,
): Promise<{ clients: WholeClient[] } | undefined> {
  const own = await sql<{ id: number | null }>`
    select ${ownAccountOf(sql`${resellerId}::bigint`)} as id`.execute(tx.sql);
  await lockClients(
    tx,
    own.rows.flatMap(({ id }) => id ?? []),
  );
  const reseller = await tx.sql
    .selectFrom('resellers')
    .select('id')
    .where('id', '=', resellerId)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  if (!reseller) return undefined;
  const { rows } = await sql<WholeClient>`
    select * from (${WHOLE} where reseller_id = ${resellerId} and deleted_at is null) as own
    order by "isOfReseller" desc, id limit ${SHOWN}`.execute(tx.sql);
  return { clients: rows };
}

/** The clients that these users looked after are nobody's from now on. */
export async function unassignSellers(db: Sql, userIds: readonly number[]): Promise<void> {
  if (userIds.length === 0) return;
  await db.updateTable('clients').set({ seller_id: null }).where('seller_id', 'in', userIds).execute();
}

/** Locks an account for its end. Waits for everybody who is adding something that refers to it. */
export async function lockForGood(tx: Transaction, clientId: number): Promise<void> {
  await tx.sql.selectFrom('clients').select('id').where('id', '=', clientId).forUpdate().execute();
}

/** Marks an account as deleted, when nothing is left in it. Its row stays, for the audit log and invoices. */
export async function markClientDeleted(tx: Transaction, clientId: number): Promise<void> {
  await tx.sql
    .updateTable('clients')
    .set({ deleted_at: tx.now })
    .where('id', '=', clientId)
    .where('deleted_at', 'is', null)
    .execute();
}

export async function markResellerDeleted(tx: Transaction, resellerId: number): Promise<void> {
  await tx.sql.updateTable('resellers').set({ deleted_at: tx.now }).where('id', '=', resellerId).execute();
}

/** Inserts the row of an account, and returns its ID. */
export async function insertClient(db: Sql, client: Insertable<Tables['clients']>): Promise<number> {
  const { id } = await db.insertInto('clients').values(client).returning('id').executeTakeFirstOrThrow();
  return id;
}

export async function insertReseller(db: Sql, reseller: Insertable<Tables['resellers']>): Promise<number> {
  const { id } = await db.insertInto('resellers').values(reseller).returning('id').executeTakeFirstOrThrow();
  return id;
}

/** Whether the account has that project. */
export async function hasProject(db: Sql, clientId: number, projectId: number): Promise<boolean> {
  const project = await db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where(onlyChecked(sql`client_id = ${clientId}`))
    .executeTakeFirst();
  return project !== undefined;
}
