import { type RawBuilder, type Selectable, sql } from 'kysely';
import { jsonArrayFrom, jsonObjectFrom } from 'kysely/helpers/postgres';
import type { Json } from '../../../backends/contract/backend.ts';
import { belongsTo, isIn, type Place, type Sql, type Transaction, tagConditions } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import { orderOf, type Page } from '../../../lib/page.ts';
import type { LoadBalancerListQuery } from './schema.ts';

export type LoadBalancerRow = Selectable<Tables['load_balancers']>;
export type ShownLoadBalancer = LoadBalancerRow & {
  vip: { id: string; addresses: { address: string; subnet_id: string }[] } | null;
  listener_ids: string[];
};

/** Selects load balancers with their virtual address and listeners in one query. */
function shown(db: Sql, where: RawBuilder<boolean>) {
  return db
    .selectFrom('load_balancers')
    .selectAll('load_balancers')
    .select((balancer) =>
      jsonObjectFrom(
        balancer
          .selectFrom('ports')
          .select('ports.id')
          .select((port) =>
            jsonArrayFrom(
              port
                .selectFrom('ip_assignments')
                .select([sql<string>`host(address)`.as('address'), 'subnet_id'])
                .whereRef('port_id', '=', 'ports.id')
                .orderBy(sql`family(address)`)
                .orderBy('address'),
            ).as('addresses'),
          )
          .whereRef('ports.load_balancer_id', '=', 'load_balancers.id'),
      ).as('vip'),
    )
    .select(
      sql<string[]>`array(select id::text from lb_listeners
        where load_balancer_id = load_balancers.id order by created_at, id)`.as('listener_ids'),
    )
    .where(where);
}

export async function findBalancer(db: Sql, place: Place, id: string): Promise<ShownLoadBalancer | undefined> {
  return shown(db, belongsTo(place, 'load_balancers')).where('load_balancers.id', '=', id).executeTakeFirst();
}

/** Returns what the backend calls the load balancer. */
export async function handleOf(db: Sql, id: string): Promise<Json> {
  const query = db.selectFrom('wants').select('handle').where('kind', '=', 'load_balancer').where('id', '=', id);
  return ((await query.executeTakeFirst())?.handle ?? null) as Json;
}

/** Returns the load balancers whose virtual addresses the ports have, with the ports' IDs. */
export async function balancersOnPorts(db: Sql, place: Place, portIds: readonly string[]) {
  return shown(db, belongsTo(place, 'load_balancers'))
    .where(
      sql<boolean>`exists (select from ports
        where load_balancer_id = load_balancers.id and ports.id = any(${portIds}::uuid[]))`,
    )
    .execute();
}

const ADDRESSES = sql`from ip_assignments join ports on ports.id = port_id
  where ports.load_balancer_id = load_balancers.id`;
const ORDERS = {
  created_at: sql`load_balancers.created_at`,
  updated_at: sql`load_balancers.updated_at`,
  name: sql`load_balancers.name`,
  flavor: sql`load_balancers.flavor ->> 'flavor_id'`,
  provisioning_status: sql`load_balancers.provisioning_status`,
  vip_address: sql`(select min(address) ${ADDRESSES})`,
  // dual, ipv4 and ipv6 sort like their names.
  vip_ip_family: sql`(select case count(distinct family(address)) when 2 then 'dual' else 'ipv' || min(family(address)) end ${ADDRESSES})`,
};

/**
 * Lists load balancers in the query's order. Its operating status is not in the database: whoever asks for one filters
 * and orders by himself, and gets all rows with `paged: false`.
 */
export async function listBalancers(
  db: Sql,
  place: Place,
  query: LoadBalancerListQuery,
  { paged }: { paged: boolean },
): Promise<Page<ShownLoadBalancer>> {
  let matching = shown(db, isIn(place, 'load_balancers')).where((eb) =>
    eb.and(tagConditions('load_balancers.tags', query)),
  );
  if (query.name !== undefined) {
    matching = matching.where(sql<boolean>`strpos(load_balancers.name, ${query.name}) > 0`);
  }
  if (query.provisioning_status !== undefined) {
    matching = matching.where('load_balancers.provisioning_status', '=', query.provisioning_status);
  }
  if (query.logging_enabled !== undefined) {
    matching = matching.where(
      sql<boolean>`coalesce((logging ->> 'enabled')::boolean, false) = ${query.logging_enabled}`,
    );
  }
  if (query.assigned_floating !== undefined) {
    matching = matching.where(
      sql<boolean>`exists (select from ports join floating_ips on floating_ips.port_id = ports.id
        where ports.load_balancer_id = load_balancers.id) = ${query.assigned_floating}`,
    );
  }
  const [column, direction] = orderOf(query.order_by ?? 'created_at.desc');
  const order = column === 'operating_status' ? ORDERS.created_at : ORDERS[column];
  const ordered = matching.orderBy(order, direction).orderBy('load_balancers.id', direction);
  if (paged) return pageWithCount(ordered, query);
  const rows = await ordered.execute();
  return { count: rows.length, rows };
}

/** Locks the load balancer against concurrent changes until the transaction ends. */
export async function lockBalancer(tx: Transaction, place: Place, id: string): Promise<LoadBalancerRow | undefined> {
  return tx.sql
    .selectFrom('load_balancers')
    .selectAll()
    .where('id', '=', id)
    .where(belongsTo(place))
    .forUpdate()
    .executeTakeFirst();
}

/** Deletes the load balancer with all its parts. */
export async function deleteBalancer(tx: Transaction, id: string): Promise<void> {
  // A policy may refer to a pool, which would go before it.
  await sql`delete from lb_l7_policies where load_balancer_id = ${id}`.execute(tx.sql);
  await tx.sql.deleteFrom('load_balancers').where('id', '=', id).execute();
}

/** Locks the load balancer, whichever project it belongs to. */
export async function lockForEnd(tx: Transaction, id: string): Promise<void> {
  await tx.sql.selectFrom('load_balancers').select('id').where('id', '=', id).forUpdate().execute();
}

/** Returns the IDs of all load balancers, newest first. */
export async function idsOfAll(db: Sql, place: Place): Promise<string[]> {
  const rows = await db
    .selectFrom('load_balancers')
    .select('id')
    .where(isIn(place))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns the virtual addresses of a load balancer. */
export async function virtualAddresses(tx: Transaction, id: string): Promise<string[]> {
  const rows = await tx.sql
    .selectFrom('ports')
    .innerJoin('ip_assignments', 'ip_assignments.port_id', 'ports.id')
    .select(sql<string>`host(address)`.as('address'))
    .where('load_balancer_id', '=', id)
    .orderBy('address')
    .execute();
  return rows.map(({ address }) => address);
}
