import { sql } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import type { ServiceStatus } from '../../accounts/schema.ts';
import { OFFERED, type OfferedService } from '../../accounts/schema.ts';

/** Accounts that a reseller works in are not its customers: its defaults don't count there. */
const CUSTOMER = sql<boolean>`not exists (
  select from users
   where users.client_id = clients.id and users.reseller_id is not null and users.deleted_at is null)`;

/** Which of the offered products an account may have: what was decided for it, or else for its reseller's clients. */
const OF_CLIENTS = sql`
  clients cross join unnest(${[...OFFERED]}::text[]) as offered (product)
    left join client_products own on own.client_id = clients.id and own.product = offered.product
    left join product_defaults usual
      on usual.reseller_id = clients.reseller_id and usual.product = offered.product and ${CUSTOMER}`;
const WITH_STATES = sql`${OF_CLIENTS}
    left join client_services state on state.client_id = clients.id and state.service = offered.product`;
const IN_USE = sql<boolean>`coalesce(state.status, 'active') in ('trial', 'activating', 'active')`;
const AVAILABLE = sql<boolean>`coalesce(own.available, usual.available, true)`;

export interface AvailableRow {
  client_id: number;
  product: OfferedService;
  available: boolean;
}

export async function availabilityOf(db: Sql, clientIds: readonly number[]): Promise<AvailableRow[]> {
  const { rows } = await sql<AvailableRow>`
    select clients.id as client_id, offered.product, ${AVAILABLE} as available from ${OF_CLIENTS}
     where clients.id = any(${[...clientIds]}::bigint[])`.execute(db);
  return rows;
}

/** A new account begins without the products that it may not have. */
export async function shutUnavailable(db: Sql, clientId: number, now: Date): Promise<void> {
  await sql`
    insert into client_services (client_id, service, status, previous_status, enabled, changed_at)
    select clients.id, offered.product, 'new', 'new', false, ${now} from ${OF_CLIENTS}
     where clients.id = ${clientId} and not ${AVAILABLE}`.execute(db);
}

export async function defaultsOf(db: Sql, resellerId: number): Promise<Map<OfferedService, boolean>> {
  const rows = await db
    .selectFrom('product_defaults')
    .select(['product', 'available'])
    .where('reseller_id', '=', resellerId)
    .execute();
  return new Map(rows.map(({ product, available }) => [product, available]));
}

/** Returns the customers of a reseller for whom nothing was decided about the product, so that the default counts. */
export async function followersOf(db: Sql, resellerId: number, product: OfferedService): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select clients.id from clients
     where reseller_id = ${resellerId} and deleted_at is null and ${CUSTOMER} and not exists (
       select from client_products where client_id = clients.id and client_products.product = ${product})`.execute(db);
  return rows.map(({ id }) => id);
}

/** The defaults that count for an account stay until the transaction ends. The account must be locked. */
export async function keepDefaults(db: Sql, clientId: number): Promise<void> {
  await sql`
    select from resellers where id = (select reseller_id from clients where id = ${clientId}) for share`.execute(db);
}

export async function putDefault(db: Sql, row: { reseller_id: number; product: OfferedService; available: boolean }) {
  await db
    .insertInto('product_defaults')
    .values(row)
    .onConflict((one) => one.columns(['reseller_id', 'product']).doUpdateSet({ available: row.available }))
    .execute();
}

export async function putForClient(db: Sql, rows: readonly AvailableRow[]): Promise<void> {
  if (rows.length === 0) return;
  await db
    .insertInto('client_products')
    .values(rows)
    .onConflict((one) =>
      one.columns(['client_id', 'product']).doUpdateSet((row) => ({ available: row.ref('excluded.available') })),
    )
    .execute();
}

/** Which accounts a decision is about: one, or all clients of a reseller. */
export type Which = { clientId: number } | { resellerId: number };

const matching = (which: Which) =>
  'clientId' in which
    ? sql<boolean>`clients.id = ${which.clientId}`
    : sql<boolean>`clients.reseller_id = ${which.resellerId}`;

/** Forgets what was decided for single accounts. Returns which of them. */
export async function forgetDecisions(db: Sql, which: Which, products: readonly OfferedService[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    delete from client_products using clients
     where clients.id = client_products.client_id and ${matching(which)}
       and client_products.product = any(${[...products]}::text[])
     returning clients.id`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * What the former reseller of a client decided for it ends, and the defaults of its present one begin to count. It keeps
 * what it uses, as if that had been decided for it.
 */
export async function keepUsed(db: Sql, clientId: number): Promise<void> {
  await forgetDecisions(db, { clientId }, OFFERED);
  await sql`
    insert into client_products (client_id, product, available)
    select clients.id, offered.product, true from ${WITH_STATES}
     where clients.id = ${clientId} and not ${AVAILABLE} and ${IN_USE}`.execute(db);
}

/**
 * Returns which of the products such accounts use: those for which something was decided, or nothing was, or any. The
 * services of a suspended account count as they will be when it is resumed.
 */
export async function inUse(
  db: Sql,
  which: Which,
  products: readonly OfferedService[],
  decided: boolean | undefined,
): Promise<{ product: OfferedService; status: ServiceStatus }[]> {
  const { rows } = await sql<{ product: OfferedService; status: ServiceStatus }>`
    select distinct offered.product, coalesce(state.status, 'active') as status from ${WITH_STATES}
     where ${matching(which)} and clients.deleted_at is null and offered.product = any(${[...products]}::text[])
       and (${decided ?? null}::boolean is null
            or ${CUSTOMER} and (own.client_id is not null) = ${decided ?? null}::boolean)
       and ${IN_USE}
     order by 1, 2`.execute(db);
  return rows;
}
