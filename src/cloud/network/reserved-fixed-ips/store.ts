import { type RawBuilder, type Selectable, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { belongsTo, isIn, type Place, type Sql, type Transaction } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import { orderOf, type Page } from '../../../lib/page.ts';
import type { ReservedFixedIpListQuery } from './schema.ts';
import { sharingPorts } from './vip-store.ts';

export type PlainReserved = Selectable<Tables['ports']>;
export type ReservedRow = PlainReserved & {
  external: boolean;
  addresses: { address: string; subnet_id: string }[];
  /** The instances that share it, if it is a VIP. */
  sharing: string[];
};

/** Selects reserved ports with their addresses in one query. */
function reserved(db: Sql, where: RawBuilder<boolean>) {
  return db
    .selectFrom('ports')
    .innerJoin('networks', 'networks.id', 'ports.network_id')
    .selectAll('ports')
    .select('external')
    .select((port) =>
      jsonArrayFrom(
        port
          .selectFrom('ip_assignments')
          .select([sql<string>`host(address)`.as('address'), 'subnet_id'])
          .whereRef('port_id', '=', 'ports.id')
          .orderBy('address'),
      ).as('addresses'),
    )
    .select(sql<string[]>`array(select distinct sharing.instance_id::text ${sharingPorts} order by 1)`.as('sharing'))
    .where('ports.reserved', '=', true)
    .where(where);
}

export async function findReserved(db: Sql, place: Place, id: string): Promise<ReservedRow | undefined> {
  return reserved(db, belongsTo(place, 'ports')).where('ports.id', '=', id).executeTakeFirst();
}

const ORDERS = {
  created_at: sql`ports.created_at`,
  fixed_ip_address: sql`(select min(address) from ip_assignments where port_id = ports.id and family(address) = 4)`,
  name: sql`ports.name`,
  // Sorts like the text of the status: ACTIVE comes before DOWN.
  status: sql`coalesce(ports.instance_id, ports.load_balancer_id) is null`,
  updated_at: sql`ports.updated_at`,
};

export async function listReserved(db: Sql, place: Place, query: ReservedFixedIpListQuery): Promise<Page<ReservedRow>> {
  let matching = reserved(db, isIn(place, 'ports'));
  if (query.external_only) matching = matching.where('external', '=', true);
  if (query.internal_only) matching = matching.where('external', '=', false);
  if (query.vip_only) matching = matching.where('ports.is_vip', '=', true);
  if (query.available_only) {
    matching = matching
      .where('ports.instance_id', 'is', null)
      .where('ports.load_balancer_id', 'is', null)
      .where(sql<boolean>`not exists (select ${sharingPorts})`);
  }
  if (query.device_id !== undefined) {
    const wanted = query.device_id.toLowerCase();
    matching =
      matching.where(sql<boolean>`(ports.instance_id::text = ${wanted} or ports.load_balancer_id::text = ${wanted}
      or exists (select ${sharingPorts} and sharing.instance_id::text = ${wanted}))`);
  }
  if (query.ip_address !== undefined) {
    matching = matching.where(sql<boolean>`exists (
      select from ip_assignments
      where port_id = ports.id and position(${query.ip_address} in host(address)) > 0)`);
  }
  const [column, direction] = orderOf(query.order_by ?? 'fixed_ip_address.asc');
  const ordered = matching
    .orderBy(ORDERS[column], (order) => (direction === 'asc' ? order.asc() : order.desc()).nullsLast())
    .orderBy('ports.id', direction);
  return pageWithCount(ordered, query);
}

export async function lockReservedPort(tx: Transaction, place: Place, id: string): Promise<PlainReserved | undefined> {
  return tx.sql
    .selectFrom('ports')
    .selectAll()
    .where('id', '=', id)
    .where('reserved', '=', true)
    .where(belongsTo(place))
    .forUpdate()
    .executeTakeFirst();
}

/** Locks the port, whichever project it belongs to. */
export async function lockAny(tx: Transaction, id: string): Promise<PlainReserved | undefined> {
  return tx.sql.selectFrom('ports').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/**
 * Whether a load balancer has the port, made it itself and is not about to go. The port must be locked: a removal of the
 * load balancer decides with the lock whether the port goes.
 */
export async function isOwnOfBalancer(tx: Transaction, port: PlainReserved): Promise<boolean> {
  // Task IDs grow with time: it was reserved when the load balancer had it already.
  const { rows } = await sql`
    select from load_balancers where id = ${port.load_balancer_id} and provisioning_status <> 'PENDING_DELETE'
      and creator_task_id < ${port.creator_task_id}`.execute(tx.sql);
  return rows.length > 0;
}

/**
 * Locks and returns a port that may become reserved, with the pool if its instance is a node, and the status of its
 * load balancer.
 */
export async function lockPortToReserve(tx: Transaction, place: Place, id: string) {
  return tx.sql
    .selectFrom('ports')
    .selectAll()
    .select((port) => port.selectFrom('instances').select('pool_id').whereRef('id', '=', 'instance_id').as('pool_id'))
    .select((port) =>
      port
        .selectFrom('load_balancers')
        .select('provisioning_status')
        .whereRef('load_balancers.id', '=', 'load_balancer_id')
        .as('balancer_status'),
    )
    .where('id', '=', id)
    .where(belongsTo(place))
    .forUpdate()
    .executeTakeFirst();
}
