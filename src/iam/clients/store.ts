import { type Expression, type InferResult, type SqlBool, sql, type Updateable } from 'kysely';
import type { Sql } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import { MOST_LISTED, orderingOf } from '../../lib/lists.ts';
import { containing } from '../../lib/texts.ts';
import { momentIn } from '../../lib/time.ts';
import { ROLES } from '../../requests/principal.ts';
import { isOffered, type OfferedService, SERVICES, type ServiceStatus } from '../accounts/schema.ts';
import type { ClientListQuery } from './schema.ts';

/** The filter of a list: fields of its query, partly resolved. */
export interface ClientFilter extends Omit<ClientListQuery, 'created_at_gte' | 'created_at_lte'> {
  /** The caller's reseller; undefined for the platform. */
  within: number | undefined;
  /** The required statuses of the account's services. */
  services: { service: OfferedService; status: ServiceStatus }[];
  created_at_gte: Date | undefined;
  created_at_lte: Date | undefined;
}

/** Turns a query into a filter. Undefined if nothing can match. */
export function filterOf(query: ClientListQuery, within: number | undefined): ClientFilter | undefined {
  const wanted = SERVICES.flatMap((service) => {
    const status = query[service.toLowerCase() as Lowercase<typeof service>];
    return status === undefined ? [] : [{ service, status }];
  });
  const impossible =
    // A service that the platform doesn't offer is `new` in every account.
    wanted.some(({ service, status }) => !isOffered(service) && status !== 'new') ||
    query.promocode !== undefined ||
    query.client_type === 'sales' ||
    (query.bill_type !== undefined && query.bill_type !== 'common');
  if (impossible) return undefined;
  const { created_at_gte: gte, created_at_lte: lte } = query;
  return {
    ...query,
    within,
    services: wanted.flatMap(({ service, status }) => (isOffered(service) ? [{ service, status }] : [])),
    created_at_gte: gte === undefined ? undefined : momentIn('created_at_gte', gte),
    created_at_lte: lte === undefined ? undefined : momentIn('created_at_lte', lte),
  };
}

type OrderField = 'id' | 'email' | 'name' | 'status' | 'companyName' | 'created_at';

const administrators = (condition: Expression<SqlBool>) => sql<boolean>`exists (
  select from client_users join users on users.id = client_users.user_id
   where client_users.client_id = clients.id and client_users.role_id = ${ROLES.administrators.id}
     and users.deleted_at is null and not users.pending and ${condition})`;
const ofReseller = sql<boolean>`exists (
  select from users where users.client_id = clients.id and users.reseller_id is not null and users.deleted_at is null)`;
const ownerId = sql<number | null>`(
  select min(client_users.user_id) from client_users join users on users.id = client_users.user_id
   where client_users.client_id = clients.id and client_users.role_id = ${ROLES.administrators.id}
     and not users.pending)`;

/** The name of a user who was only invited into the account is neither shown nor searched there. */
const toldHere = sql<SqlBool>`exists (
  select from clients home where home.id = users.client_id and home.reseller_id = clients.reseller_id)`;

function accounts(db: Sql) {
  return db
    .selectFrom('clients')
    .select([
      'clients.id',
      'clients.reseller_id',
      'clients.company',
      'clients.email',
      'clients.name',
      'clients.phone',
      'clients.custom_id',
      'clients.country_code',
      'clients.is_test',
      'clients.seller_id',
      'clients.status',
      'clients.deleted_at',
      'clients.created_at',
      ownerId.as('owner_id'),
      administrators(sql<boolean>`users.is_active and client_users.is_active`).as('has_active_admin'),
      ofReseller.as('of_reseller'),
    ]);
}

export type AccountRow = InferResult<ReturnType<typeof accounts>>[number];

export async function findAccount(db: Sql, clientId: number): Promise<AccountRow | undefined> {
  return accounts(db).where('clients.id', '=', clientId).executeTakeFirst();
}

/** Lists accounts in the order of the query, then by id. */
export async function listAccounts(
  db: Sql,
  filter: ClientFilter,
  { limit = MOST_LISTED, offset }: { limit: number | undefined; offset: number },
): Promise<{ count: number; rows: AccountRow[] }> {
  let matching = accounts(db).where(sql<SqlBool>`${sql.join(conditions(filter), sql` and `)}`);
  const order = orderingOf<OrderField>(filter.ordering);
  for (const { field, direction } of order) {
    matching = matching.orderBy(`clients.${field === 'companyName' ? 'company' : field}`, direction);
  }
  return pageWithCount(matching.orderBy('clients.id', order[0]?.direction ?? 'asc'), { limit, offset });
}

function conditions(filter: ClientFilter) {
  const has = <T>(value: T | undefined, condition: (value: T) => Expression<SqlBool>) =>
    value === undefined ? [] : [condition(value)];
  const equal = (column: keyof Tables['clients'], value: string | number | boolean | undefined) =>
    has(value, (wanted) => sql<SqlBool>`${sql.ref(`clients.${column}`)} = ${wanted}`);
  const contains = (column: keyof Tables['clients'], value: string | undefined) =>
    has(value, (part) => sql<SqlBool>`${sql.ref(`clients.${column}`)} ilike ${containing(part)}`);
  const user = (column: 'name' | 'email', value: string | undefined) =>
    has(
      value,
      (part) => sql<SqlBool>`exists (
        select from client_users join users on users.id = client_users.user_id
         where client_users.client_id = clients.id and ${sql.ref(`users.${column}`)} ilike ${containing(part)}
           and ${column === 'name' ? toldHere : sql`true`})`,
    );
  return [
    sql<SqlBool>`true`,
    ...equal('reseller_id', filter.within),
    ...equal('reseller_id', filter.reseller_id),
    ...equal('seller_id', filter.seller_id),
    ...equal('custom_id', filter.custom_id),
    ...equal('country_code', filter.country_code),
    ...equal('is_test', filter.is_test),
    ...filter.services.map(serviceIs),
    ...contains('email', filter.email),
    ...contains('company', filter.companyName),
    ...contains('name', filter.name),
    ...user('name', filter.users_name),
    ...user('email', filter.users_email),
    ...(filter.deleted === 'true' ? [sql<SqlBool>`clients.deleted_at is not null`] : []),
    ...(filter.deleted === 'false' ? [sql<SqlBool>`clients.deleted_at is null`] : []),
    ...has(filter.created_at_gte, (from) => sql<SqlBool>`clients.created_at >= ${from}`),
    ...has(filter.created_at_lte, (to) => sql<SqlBool>`clients.created_at <= ${to}`),
    ...has(filter.id__in__exclude, (ids) => sql<SqlBool>`clients.id <> all (${ids.split(',')}::bigint[])`),
    ...has(filter.client_type, (type) => sql<SqlBool>`${ofReseller} = ${type === 'reseller'}`),
    ...has(
      filter.activated,
      (wanted) => sql<SqlBool>`${administrators(sql<SqlBool>`users.password_hash is not null`)} = ${wanted}`,
    ),
    ...has(
      filter.personal_product_availability,
      (products) => sql<SqlBool>`exists (
        select from client_products
         where client_products.client_id = clients.id and product = any (${products.split(',')}::text[]))`,
    ),
    ...has(
      filter.feature_id_in,
      (ids) => sql<SqlBool>`exists (
        select from feature_activations
         where feature_activations.client_id = clients.id and feature_id = any (${ids.split(',')}::bigint[]))`,
    ),
  ];
}

/** Services that nobody changed follow the account's status. */
function serviceIs({ service, status }: { service: OfferedService; status: ServiceStatus }) {
  return sql<SqlBool>`case when clients.status = 'paused' then 'paused' else coalesce((
    select client_services.status from client_services
     where client_id = clients.id and service = ${service}), clients.status) end = ${status}`;
}

export async function updateAccount(db: Sql, clientId: number, changes: Updateable<Tables['clients']>): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await db.updateTable('clients').set(changes).where('id', '=', clientId).execute();
}
