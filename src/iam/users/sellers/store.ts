import { type Expression, type InferResult, type SqlBool, sql } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import { containing } from '../../../lib/texts.ts';
import type { ORDERINGS, SellerListQuery } from './schema.ts';

/** Those of this reseller, or of all. */
export interface SellersOf {
  resellerId: number | undefined;
}

function sellers(db: Sql, { resellerId }: SellersOf) {
  const all = db
    .selectFrom('users')
    .innerJoin('clients', 'clients.id', 'users.client_id')
    .innerJoin('resellers', 'resellers.id', 'users.reseller_id')
    .select((user) => [
      'users.id',
      'users.email',
      'users.name',
      'users.phone',
      'users.client_id',
      'clients.company',
      'resellers.name as reseller_name',
      'users.created_at',
      'users.deleted_at',
      user('users.password_hash', 'is not', null).$castTo<boolean>().as('activated'),
    ])
    .where('users.is_seller', '=', true);
  return resellerId === undefined ? all : all.where('users.reseller_id', '=', resellerId);
}

export type SellerRow = InferResult<ReturnType<typeof sellers>>[number];

export async function findSeller(db: Sql, id: number, of: SellersOf): Promise<SellerRow | undefined> {
  return sellers(db, of).where('users.id', '=', id).executeTakeFirst();
}

export interface SellerOrder {
  field: (typeof ORDERINGS)[number];
  direction: 'asc' | 'desc';
}

const ACTIVATED = sql<SqlBool>`(users.password_hash is not null)`;
const DELETED = sql<SqlBool>`(users.deleted_at is not null)`;
const FIELDS: Record<SellerOrder['field'], Expression<unknown>> = {
  id: sql.ref('users.id'),
  email: sql.ref('users.email'),
  full_name: sql.ref('users.name'),
  date_joined: sql.ref('users.created_at'),
  activated: ACTIVATED,
  deleted: DELETED,
};

/** Lists sellers in that order, then by ID. */
export async function listSellers(
  db: Sql,
  of: SellersOf,
  filter: SellerListQuery,
  { order, limit, offset }: { order: readonly SellerOrder[]; limit: number; offset: number },
): Promise<{ count: number; rows: SellerRow[] }> {
  let matching = sellers(db, of).where(sql<SqlBool>`${sql.join(conditions(filter), sql` and `)}`);
  for (const { field, direction } of order) matching = matching.orderBy(FIELDS[field], direction);
  return pageWithCount(matching.orderBy('users.id', order[0]?.direction ?? 'asc'), { limit, offset });
}

function conditions(filter: SellerListQuery) {
  const has = <T>(value: T | undefined, condition: (value: T) => Expression<SqlBool>) =>
    value === undefined ? [] : [condition(value)];
  const contains = (column: string, value: string | undefined) =>
    has(value, (part) => sql<SqlBool>`${sql.ref(column)} ilike ${containing(part)}`);
  return [
    sql<SqlBool>`true`,
    ...has(filter.id, (id) => sql<SqlBool>`users.id = ${id}`),
    ...has(filter.id__in, (ids) => sql<SqlBool>`users.id = any (${ids.split(',')}::bigint[])`),
    ...has(filter.id__contains, (digits) => sql<SqlBool>`users.id::text like ${`%${digits}%`}`),
    ...contains('users.email', filter.email),
    ...contains('users.name', filter.full_name),
    ...contains('resellers.name', filter.reseller_name),
    ...has(filter.activated, (wanted) => sql<SqlBool>`${ACTIVATED} = ${wanted}`),
    ...(filter.deleted === 'true' ? [DELETED] : []),
    ...(filter.deleted === 'false' ? [sql<SqlBool>`not ${DELETED}`] : []),
  ];
}
