import type { Selectable } from 'kysely';
import type { Transaction } from '../../../../db/database.ts';
import type { Tables } from '../../../../db/tables.ts';

export type QuotaListRow = Selectable<Tables['quota_lists']>;

export async function insertQuotaList(
  tx: Transaction,
  list: Omit<QuotaListRow, 'id'>,
): Promise<QuotaListRow> {
  return tx.sql
    .insertInto('quota_lists')
    .values({ ...list, limits: JSON.stringify(list.limits) })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteQuotaList(tx: Transaction, id: number): Promise<void> {
  await tx.sql.deleteFrom('quota_lists').where('id', '=', id).execute();
}
