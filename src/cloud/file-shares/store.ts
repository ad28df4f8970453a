import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import type { Place } from '../projects/place.ts';
import type { FileShareListQuery } from './schema.ts';

export type FileShareRow = Selectable<Tables['file_shares']>;
export type NewFileShareRow = Insertable<Tables['file_shares']>;

function shares(db: Kysely<Tables>, { projectId, regionId }: Place) {
  return db.selectFrom('file_shares').where('project_id', '=', projectId).where('region_id', '=', regionId);
}

export async function findShare(
  db: Kysely<Tables>,
  place: Place,
  id: string,
): Promise<FileShareRow | undefined> {
  return shares(db, place).selectAll().where('id', '=', id).executeTakeFirst();
}

/** Locks the share against a concurrent change until the transaction ends. */
export async function lockShare(
  tx: Transaction,
  place: Place,
  id: string,
): Promise<FileShareRow | undefined> {
  return shares(tx.sql, place).selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/** Lets nobody hold the share until the transaction ends; false when it isn't available. */
export async function keepAvailable(tx: Transaction, place: Place, id: string): Promise<boolean> {
  const row = await shares(tx.sql, place)
    .select('id')
    .where('id', '=', id)
    .where('status', '=', 'available')
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

export async function listShares(
  db: Kysely<Tables>,
  place: Place,
  query: FileShareListQuery,
): Promise<{ count: number; rows: FileShareRow[] }> {
  let matching = shares(db, place);
  if (query.name !== undefined) matching = matching.where(sql<boolean>`strpos(name, ${query.name}) > 0`);
  if (query.type_name !== undefined) matching = matching.where('type_name', '=', query.type_name);
  const ordered = matching.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
  return pageWithCount(ordered, { limit: query.limit ?? 1000, offset: query.offset ?? 0 });
}

export async function insertShare(tx: Transaction, share: NewFileShareRow): Promise<void> {
  await tx.sql.insertInto('file_shares').values(share).execute();
}

export async function holdForDeletion(tx: Transaction, id: string, taskId: string): Promise<void> {
  await tx.sql
    .updateTable('file_shares')
    .set({ status: 'deleting', task_id: taskId })
    .where('id', '=', id)
    .execute();
}

/** Ends the task's hold: the share can be used. */
export async function makeAvailable(tx: Transaction, id: string, connectionPoint?: string): Promise<void> {
  await tx.sql
    .updateTable('file_shares')
    .set({
      status: 'available',
      task_id: null,
      ...(connectionPoint !== undefined && { connection_point: connectionPoint }),
    })
    .where('id', '=', id)
    .execute();
}

/** Whether there was one. */
export async function deleteShare(tx: Transaction, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.sql.deleteFrom('file_shares').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}
