import { type RawBuilder, sql } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';
import type { ListScope } from './schema.ts';

/** Tables with the columns of `ListRow`. */
export type ListTable = 'price_lists' | 'quota_lists';

/** Whom a list is for. */
export interface Holder {
  scope: ListScope;
  reseller_id: number | null;
  client_id: number | null;
}

export interface ListRow extends Holder {
  id: number;
  valid_from: Date;
  created_by: number;
  created_at: Date;
}

/** A place in a list of lists, which has the latest first. */
export interface Place {
  from: Date;
  id: number;
}

/** The lists that a caller may see: all, or those of a reseller and its clients. */
export type Sight = { all: true } | { all: false; resellerId: number };

const seenBy = (sight: Sight): RawBuilder<boolean> =>
  sight.all
    ? sql`true`
    : sql`(reseller_id = ${sight.resellerId}
        or client_id in (select id from clients where clients.reseller_id = ${sight.resellerId}))`;

export const isFor = ({ scope, reseller_id = null, client_id = null }: Partial<Holder>): RawBuilder<boolean> => sql`(
  ${scope === undefined ? sql`true` : sql`scope = ${scope}`}
  and ${reseller_id === null ? sql`true` : sql`reseller_id = ${reseller_id}`}
  and ${client_id === null ? sql`true` : sql`client_id = ${client_id}`})`;

export async function readLists<Row extends ListRow>(
  db: Sql,
  rows: RawBuilder<unknown>,
  sight: Sight,
  holder: Partial<Holder>,
  { after, limit }: { after: Place | undefined; limit: number },
): Promise<Row[]> {
  const { rows: lists } = await sql<Row>`
    select * from ${rows} where ${seenBy(sight)} and ${isFor(holder)}
      and ${after ? sql`(valid_from, id) < (${after.from}, ${after.id})` : sql`true`}
    order by valid_from desc, id desc limit ${limit}`.execute(db);
  return lists;
}

export async function findList<Row extends ListRow>(db: Sql, rows: RawBuilder<unknown>, sight: Sight, id: number) {
  const {
    rows: [list],
  } = await sql<Row>`
    select * from ${rows} where id = ${id} and ${seenBy(sight)}`.execute(db);
  return list;
}

/** Lets nobody else make or remove a list for the same. */
export async function lockHolder(tx: Transaction, table: ListTable, holder: Holder): Promise<void> {
  const name = `${table} ${holder.scope} ${holder.reseller_id ?? holder.client_id ?? ''}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx.sql);
}

export async function countAfter(
  tx: Transaction,
  rows: RawBuilder<unknown>,
  holder: Partial<Holder>,
  time: Date,
): Promise<number> {
  const {
    rows: [found],
  } = await sql<{ count: number }>`
    select count(*) as count from ${rows} where ${isFor(holder)} and valid_from > ${time}`.execute(tx.sql);
  return found?.count ?? 0;
}
