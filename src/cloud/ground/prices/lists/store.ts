import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Sql, Transaction } from '../../../../db/database.ts';
import type { ListTerms } from '../../../../db/json-columns.ts';
import type { Tables } from '../../../../db/tables.ts';
import { type Holder, isFor } from '../../dated-lists/in-transaction.ts';

/** What accounts pay, or what resellers owe the platform for them. */
export type PriceListRow = Selectable<Tables['price_lists']> & { price: 'retail' | 'wholesale' };
export type NewPriceList = Omit<PriceListRow, 'id'>;

/** Both tables as one. */
export const ALL_LISTS = sql`(
  select id, scope, reseller_id, client_id, valid_from, terms, created_by, created_at, 'retail'::text as price
  from price_lists
  union all
  select id, scope, reseller_id, null::bigint, valid_from, terms, created_by, created_at, 'wholesale'::text
  from wholesale_lists) as all_lists`;

export async function insertPriceList(tx: Transaction, { price, ...list }: NewPriceList): Promise<PriceListRow> {
  const { client_id, ...row } = { ...list, terms: JSON.stringify(list.terms) };
  const { id } =
    price === 'retail'
      ? await tx.sql
          .insertInto('price_lists')
          .values({ ...row, client_id })
          .returning('id')
          .executeTakeFirstOrThrow()
      : await tx.sql.insertInto('wholesale_lists').values(row).returning('id').executeTakeFirstOrThrow();
  return { ...list, price, id };
}

export async function deletePriceList(tx: Transaction, id: number): Promise<void> {
  await tx.sql.deleteFrom('price_lists').where('id', '=', id).execute();
  await tx.sql.deleteFrom('wholesale_lists').where('id', '=', id).execute();
}

/** A list and when it began. */
export interface TimedTerms extends Holder {
  id: number;
  price: PriceListRow['price'];
  from: Date;
  terms: ListTerms;
}

/** Returns the retail lists for one of the scopes that hold at some time from then on: in the order in which they begin. */
export async function listsSince(db: Sql, holder: Holder, from: Date): Promise<TimedTerms[]> {
  return timed(db, sql`${isFor(holder)} and price = 'retail'`, from, undefined);
}

/** Returns all that may be about the clients, wholesale as well: also those of their former resellers. */
export async function listsOfClientsBetween(db: Sql, clientIds: readonly number[], from: Date, to: Date) {
  // As an array, for which PostgreSQL uses the index; it would read all lists for a subquery beside an OR.
  const theirs = sql<boolean>`(scope = 'everyone' or client_id = any(${clientIds}::bigint[]) or reseller_id = any(array(
    select reseller_id from clients where id = any(${clientIds}::bigint[])
    union all select reseller_id from former_resellers where client_id = any(${clientIds}::bigint[]))))`;
  return timed(db, theirs, from, to);
}

async function timed(db: Sql, condition: RawBuilder<boolean>, from: Date, to: Date | undefined): Promise<TimedTerms[]> {
  const { rows } = await sql<TimedTerms>`
    select id, scope, reseller_id, client_id, price, valid_from as "from", terms from (
      select *, lead(valid_from) over (partition by scope, reseller_id, client_id, price order by valid_from, id) as next_from
      from ${ALL_LISTS} where ${condition} and ${to ? sql`valid_from < ${to}` : sql`true`}
    ) as lists
    where next_from is null or next_from > ${from}
    order by valid_from, id`.execute(db);
  return rows;
}

/** Which reseller a client had until when. */
export interface TimedReseller {
  client_id: number;
  reseller_id: number;
  /** Null for the present one. */
  until: Date | null;
}

/** Returns the resellers of the clients, of each the earliest first. */
export async function resellersOf(db: Sql, clientIds: readonly number[]): Promise<TimedReseller[]> {
  const { rows } = await sql<TimedReseller>`
    select client_id, reseller_id, until from former_resellers where client_id = any(${clientIds}::bigint[])
    union all select id, reseller_id, null from clients where id = any(${clientIds}::bigint[])
    order by client_id, until nulls last`.execute(db);
  return rows;
}
