import { type Selectable, sql } from 'kysely';
import type { Sql, Transaction } from '../../../../db/database.ts';
import type { RequestedLimits } from '../../../../db/json-columns.ts';
import { pageWithCount } from '../../../../db/page.ts';
import type { Tables } from '../../../../db/tables.ts';
import type { Page } from '../../../../lib/page.ts';
import type { LimitRequestListQuery, RequestStatus } from './schema.ts';

export type LimitRequestRow = Selectable<Tables['quota_requests']>;

/** Whose requests are meant: undefined for everybody's. */
export type Owner = number | undefined;

function requests(db: Sql, clientId: Owner) {
  const all = db.selectFrom('quota_requests').selectAll();
  return clientId === undefined ? all : all.where('client_id', '=', clientId);
}

export async function findRequest(db: Sql, owner: Owner, id: number): Promise<LimitRequestRow | undefined> {
  return requests(db, owner).where('id', '=', id).executeTakeFirst();
}

export async function lockRequest(tx: Transaction, owner: Owner, id: number): Promise<LimitRequestRow | undefined> {
  return requests(tx.sql, owner).where('id', '=', id).forUpdate().executeTakeFirst();
}

export async function listRequests(
  db: Sql,
  owner: Owner,
  query: LimitRequestListQuery & { from: Date | undefined; before: Date | undefined },
): Promise<Page<LimitRequestRow>> {
  let matching = requests(db, owner);
  const { request_ids: ids, status, from, before } = query;
  if (ids) matching = matching.where('id', 'in', ids);
  if (status) matching = matching.where('status', 'in', status);
  if (from) matching = matching.where('created_at', '>=', from);
  if (before) matching = matching.where('created_at', '<', before);
  return pageWithCount(matching.orderBy('id', 'desc'), query);
}

/** Counts what is not decided yet, and lets nobody else ask for the account before the transaction ends. */
export async function countOpen(tx: Transaction, clientId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`tradewind limit requests ${clientId}`}, 0))`.execute(
    tx.sql,
  );
  const { count } = await tx.sql
    .selectFrom('quota_requests')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('client_id', '=', clientId)
    .where('status', '=', 'in progress')
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertRequest(
  tx: Transaction,
  given: { clientId: number; description: string; limits: RequestedLimits; now: Date },
): Promise<number> {
  const { id } = await tx.sql
    .insertInto('quota_requests')
    .values({
      client_id: given.clientId,
      description: given.description,
      requested_limits: JSON.stringify(given.limits),
      status: 'in progress',
      created_at: given.now,
      updated_at: given.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function decideRequest(tx: Transaction, id: number, status: RequestStatus): Promise<void> {
  await tx.sql.updateTable('quota_requests').set({ status, updated_at: tx.now }).where('id', '=', id).execute();
}

export async function deleteRequest(tx: Transaction, id: number): Promise<void> {
  await tx.sql.deleteFrom('quota_requests').where('id', '=', id).execute();
}
