import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';
import type { ListTerms, PriceListScope, PriceListTables } from './tables.ts';

export type PriceListRow = Selectable<PriceListTables['price_lists']>;
export type NewPriceList = Omit<PriceListRow, 'id'>;

/** Whom a list is for. */
export interface Holder {
  scope: PriceListScope;
  reseller_id: number | null;
  client_id: number | null;
}

/** A place in the list, which has the latest first. */
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

const isOf = ({ scope, reseller_id = null, client_id = null }: Partial<Holder>): RawBuilder<boolean> => sql`(
  ${scope === undefined ? sql`true` : sql`scope = ${scope}`}
  and ${reseller_id !== null ? sql`reseller_id = ${reseller_id}` : sql`true`}
  and ${client_id !== null ? sql`client_id = ${client_id}` : sql`true`})`;

export async function listPriceLists(
  db: Sql,
  sight: Sight,
  holder: Partial<Holder>,
  { after, limit }: { after: Place | undefined; limit: number },
): Promise<PriceListRow[]> {
  return db
    .selectFrom('price_lists')
    .selectAll()
    .where(seenBy(sight))
    .where(isOf(holder))
    .where(after ? sql<boolean>`(valid_from, id) < (${after.from}, ${after.id})` : sql<boolean>`true`)
    .orderBy('valid_from', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function findPriceList(db: Sql, sight: Sight, id: number): Promise<PriceListRow | undefined> {
  return db
    .selectFrom('price_lists')
    .selectAll()
    .where('id', '=', id)
    .where(seenBy(sight))
    .executeTakeFirst();
}

/** Lets nobody else make or remove a list for the same. */
export async function lockHolder(tx: Transaction, { scope, reseller_id, client_id }: Holder): Promise<void> {
  const name = `price lists ${scope} ${reseller_id ?? client_id ?? ''}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx.sql);
}

export async function countAfter(tx: Transaction, holder: Holder, time: Date): Promise<number> {
  const { count } = await tx.sql
    .selectFrom('price_lists')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(isOf(holder))
    .where('valid_from', '>', time)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertPriceList(tx: Transaction, list: NewPriceList): Promise<PriceListRow> {
  return tx.sql
    .insertInto('price_lists')
    .values({ ...list, terms: JSON.stringify(list.terms) })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deletePriceList(tx: Transaction, id: number): Promise<void> {
  await tx.sql.deleteFrom('price_lists').where('id', '=', id).execute();
}

/** Returns the reseller of a client that is there; undefined without one. */
export async function resellerOf(db: Sql, clientId: number): Promise<number | undefined> {
  const client = await db
    .selectFrom('clients')
    .select('reseller_id')
    .where('id', '=', clientId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return client?.reseller_id;
}

export async function resellerExists(db: Sql, id: number): Promise<boolean> {
  const reseller = await db
    .selectFrom('resellers')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return reseller !== undefined;
}

/** A list and when it began. */
export interface TimedTerms extends Holder {
  id: number;
  from: Date;
  terms: ListTerms;
}

/** Returns the lists for one of the scopes that hold at some time from then on: in the order in which they begin. */
export async function listsSince(db: Sql, holder: Holder, from: Date): Promise<TimedTerms[]> {
  return timed(db, isOf(holder), from, undefined);
}

/** Returns the same of everything that may be about the clients: their former resellers' as well. */
export async function listsOfClientsBetween(
  db: Sql,
  clientIds: readonly number[],
  from: Date,
  to: Date,
): Promise<TimedTerms[]> {
  // As an array, for which PostgreSQL uses the index; it would read all lists for a subquery beside an OR.
  const theirs = sql<boolean>`(scope = 'everyone' or client_id = any(${clientIds}::bigint[]) or reseller_id = any(array(
    select reseller_id from clients where id = any(${clientIds}::bigint[])
    union all select reseller_id from former_resellers where client_id = any(${clientIds}::bigint[]))))`;
  return timed(db, theirs, from, to);
}

async function timed(
  db: Sql,
  condition: RawBuilder<boolean>,
  from: Date,
  to: Date | undefined,
): Promise<TimedTerms[]> {
  const { rows } = await sql<TimedTerms>`
    select id, scope, reseller_id, client_id, valid_from as "from", terms from (
      select *, lead(valid_from) over (partition by scope, reseller_id, client_id order by valid_from, id) as next_from
      from price_lists where ${condition} and ${to ? sql`valid_from < ${to}` : sql`true`}
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
