import { type Expression, type Kysely, type SqlBool, sql, type Updateable } from 'kysely';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import { ROLES } from '../identity/principal.ts';
import type { ServiceStatus } from '../identity/tables.ts';
import type { OfferedService } from './schema.ts';

export interface AccountRow {
  id: number;
  reseller_id: number;
  company: string;
  email: string;
  name: string | null;
  phone: string | null;
  custom_id: string | null;
  country_code: string | null;
  is_test: boolean;
  seller_id: number | null;
  status: 'active' | 'paused';
  deleted_at: Date | null;
  created_at: Date;
  /** Its first administrator. */
  owner_id: number | null;
  has_active_admin: boolean;
  of_reseller: boolean;
}

/** What a list asks for. Undefined: it doesn't matter. */
export interface ClientFilter {
  /** The reseller who asks; undefined for the platform. */
  within: number | undefined;
  email?: string | undefined;
  company?: string | undefined;
  name?: string | undefined;
  deleted?: boolean | undefined;
  resellerId?: number | undefined;
  sellerId?: number | undefined;
  customId?: string | undefined;
  /** What these services of the account are. */
  services?: { service: OfferedService; status: ServiceStatus }[] | undefined;
  activated?: boolean | undefined;
  excluded?: number[] | undefined;
  usersName?: string | undefined;
  usersEmail?: string | undefined;
  createdFrom?: Date | undefined;
  createdTo?: Date | undefined;
  featureIds?: number[] | undefined;
  isTest?: boolean | undefined;
  ofReseller?: boolean | undefined;
  countryCode?: string | undefined;
}

export type ClientColumn = 'id' | 'email' | 'name' | 'status' | 'company' | 'created_at';
export interface ClientOrder {
  column: ClientColumn;
  direction: 'asc' | 'desc';
}

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

/** The name of a user who only joined is told to nobody there, nor to whoever looks for it. */
const toldHere = sql<SqlBool>`exists (
  select from clients home where home.id = users.client_id and home.reseller_id = clients.reseller_id)`;

function accounts(db: Kysely<Tables>) {
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

export async function findAccount(db: Kysely<Tables>, clientId: number): Promise<AccountRow | undefined> {
  return accounts(db).where('clients.id', '=', clientId).executeTakeFirst();
}

/** In that order, and by id where it leaves a choice. */
export async function listAccounts(
  db: Kysely<Tables>,
  filter: ClientFilter,
  { order, limit, offset }: { order: readonly ClientOrder[]; limit: number; offset: number },
): Promise<{ count: number; rows: AccountRow[] }> {
  let matching = accounts(db).where(sql<SqlBool>`${sql.join(conditions(filter), sql` and `)}`);
  for (const { column, direction } of order) matching = matching.orderBy(`clients.${column}`, direction);
  return pageWithCount(matching.orderBy('clients.id', order[0]?.direction ?? 'asc'), { limit, offset });
}

function conditions(filter: ClientFilter) {
  const has = <T>(value: T | undefined, condition: (value: T) => Expression<SqlBool>) =>
    value === undefined ? [] : [condition(value)];
  const equal = (column: keyof Tables['clients'], value: string | number | boolean | undefined) =>
    has(value, (wanted) => sql<SqlBool>`${sql.ref(`clients.${column}`)} = ${wanted}`);
  const contains = (column: keyof Tables['clients'], value: string | undefined) =>
    has(value, (part) => sql<SqlBool>`${sql.ref(`clients.${column}`)} ilike ${pattern(part)}`);
  const user = (column: 'name' | 'email', value: string | undefined) =>
    has(
      value,
      (part) => sql<SqlBool>`exists (
        select from client_users join users on users.id = client_users.user_id
         where client_users.client_id = clients.id and ${sql.ref(`users.${column}`)} ilike ${pattern(part)}
           and ${column === 'name' ? toldHere : sql`true`})`,
    );
  return [
    sql<SqlBool>`true`,
    ...equal('reseller_id', filter.within),
    ...equal('reseller_id', filter.resellerId),
    ...equal('seller_id', filter.sellerId),
    ...equal('custom_id', filter.customId),
    ...equal('country_code', filter.countryCode),
    ...equal('is_test', filter.isTest),
    ...(filter.services ?? []).map(serviceIs),
    ...contains('email', filter.email),
    ...contains('company', filter.company),
    ...contains('name', filter.name),
    ...user('name', filter.usersName),
    ...user('email', filter.usersEmail),
    ...has(filter.deleted, (deleted) => sql<SqlBool>`(clients.deleted_at is not null) = ${deleted}`),
    ...has(filter.createdFrom, (from) => sql<SqlBool>`clients.created_at >= ${from}`),
    ...has(filter.createdTo, (to) => sql<SqlBool>`clients.created_at <= ${to}`),
    ...has(filter.excluded, (ids) => sql<SqlBool>`clients.id <> all (${ids}::bigint[])`),
    ...has(filter.ofReseller, (wanted) => sql<SqlBool>`${ofReseller} = ${wanted}`),
    ...has(
      filter.activated,
      (wanted) => sql<SqlBool>`${administrators(sql<SqlBool>`users.password_hash is not null`)} = ${wanted}`,
    ),
    ...has(
      filter.featureIds,
      (ids) => sql<SqlBool>`exists (
        select from feature_activations
         where feature_activations.client_id = clients.id and feature_id = any (${ids}::bigint[]))`,
    ),
  ];
}

/** What nobody changed follows the account. */
function serviceIs({ service, status }: { service: OfferedService; status: ServiceStatus }) {
  return sql<SqlBool>`case when clients.status = 'paused' then 'paused' else coalesce((
    select client_services.status from client_services
     where client_id = clients.id and service = ${service}), clients.status) end = ${status}`;
}

/** Invitations that the reseller so far made lead nowhere, unless somebody renews them. */
export async function expireInvitations(db: Kysely<Tables>, clientId: number, now: Date): Promise<void> {
  await db
    .updateTable('invitations')
    .set({ expires_at: now })
    .where('client_id', '=', clientId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .execute();
}

/** Part of a text; what has a meaning in a pattern stands for itself. */
function pattern(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}

export type ClientChanges = Pick<
  Updateable<Tables['clients']>,
  'email' | 'company' | 'custom_id' | 'name' | 'phone' | 'reseller_id' | 'seller_id' | 'is_test'
>;

export async function updateAccount(
  db: Kysely<Tables>,
  clientId: number,
  changes: ClientChanges,
): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await db.updateTable('clients').set(changes).where('id', '=', clientId).execute();
}
