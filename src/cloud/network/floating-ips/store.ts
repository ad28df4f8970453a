import { type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import {
  belongsTo,
  isIn,
  newResource,
  type Place,
  type Sql,
  type Transaction,
  tagConditions,
} from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import { ConflictError } from '../../../lib/errors.ts';
import type { Page } from '../../../lib/page.ts';
import { lockingSubnets } from '../addresses/in-transaction.ts';
import type { FloatingIpListQuery } from './schema.ts';

/* How the addresses of a subnet reach the outside: through a router, or where the platform routes by itself. */

/**
 * Returns SQL for the router through which an address of a port reaches the outside; null if there is none. The one
 * with the gateway's address comes first, as in Neutron.
 */
export function wayOutOf(portId: string, address: string): RawBuilder<string | null> {
  return sql`(
    select interfaces.router_id from ip_assignments as assigned
    join subnets on subnets.id = assigned.subnet_id
    join router_interfaces as interfaces on interfaces.subnet_id = subnets.id
    join routers on routers.id = interfaces.router_id
    where assigned.port_id = ${sql.ref(portId)} and assigned.address = ${sql.ref(address)}
      and routers.gateway_network_id is not null
      and not exists (select from wants where kind = 'router' and wants.id = routers.id and spec is null)
    order by interfaces.address is not distinct from gateway_ip desc, interfaces.created_at, interfaces.port_id
    limit 1)`;
}

/** Returns why a floating IP can't reach the address of a port; undefined if it can, until the transaction ends. */
export async function noWayOut(tx: Transaction, portId: string, address: string): Promise<ConflictError | undefined> {
  const { rows: found } = await sql<{ id: string; name: string; platform_routed: boolean }>`
    select subnets.id, subnets.name, platform_routed from ip_assignments
    join subnets on subnets.id = subnet_id join networks on networks.id = network_id
    where port_id = ${portId} and address = ${address}::inet for key share of subnets`.execute(tx.sql);
  const [subnet] = found;
  if (!subnet) return undefined;
  const { rows } = await sql<{ id: string; name: string; task_id: string | null; leads: boolean }>`
    select routers.id, routers.name, task_id, gateway_network_id is not null as leads
    from router_interfaces join routers on routers.id = router_id where subnet_id = ${subnet.id}
    order by routers.id for share of router_interfaces, routers`.execute(tx.sql);
  if (rows.length === 0 && subnet.platform_routed) return undefined;
  const leading = rows.filter(({ leads }) => leads);
  if (leading.some(({ task_id }) => task_id === null)) return undefined;
  const [held] = leading;
  return new ConflictError(
    held
      ? `Router ${held.name} is held by task ${held.task_id}; wait until it ends`
      : `No router leads out of subnet ${subnet.name} (${subnet.id}), so its addresses can't have floating IPs; attach it to a router with an external gateway first`,
  );
}

/** @throws ConflictError when no router leads out of the subnet of the port's address */
export async function refuseNoWayOut(tx: Transaction, portId: string, address: string): Promise<void> {
  const reason = await noWayOut(tx, portId, address);
  if (reason) throw reason;
}

export type FloatingIpRow = Selectable<Tables['floating_ips']> & {
  /** The router that leads out of the subnet of the fixed address. */
  router_id: string | null;
};

const ROUTER = wayOutOf('floating_ips.port_id', 'floating_ips.fixed_address').as('router_id');

function floatingIps(db: Sql, where: RawBuilder<boolean>) {
  return db.selectFrom('floating_ips').selectAll('floating_ips').select(ROUTER).where(where);
}

export async function findFloatingIp(db: Sql, place: Place, id: string): Promise<FloatingIpRow | undefined> {
  return floatingIps(db, belongsTo(place)).where('id', '=', id).executeTakeFirst();
}

export async function listFloatingIps(db: Sql, place: Place, query: FloatingIpListQuery): Promise<Page<FloatingIpRow>> {
  let matching = floatingIps(db, isIn(place)).where((eb) => eb.and(tagConditions('floating_ips.tags', query)));
  const { port_ids: portIds, status } = query;
  if (portIds) matching = matching.where(sql<boolean>`port_id = any(${portIds}::uuid[])`);
  if (status === 'ACTIVE') matching = matching.where(leads(true));
  else if (status === 'DOWN') matching = matching.where(leads(false));
  else if (status === 'ERROR') matching = matching.where(sql<boolean>`false`);
  return pageWithCount(matching.orderBy('created_at', 'desc').orderBy('id', 'desc'), query);
}

/** Whether a floating IP is assigned, as its status shows it: while it is being created, it is not assigned yet. */
function leads(wanted: boolean) {
  return sql<boolean>`(port_id is not null and task_id is distinct from creator_task_id) = ${wanted}`;
}

/** Locks the floating IPs with these IDs until the transaction ends, always in the same order, and returns them. */
export async function lockFloatingIps(tx: Transaction, place: Place, ids: string[]): Promise<FloatingIpRow[]> {
  return floatingIps(tx.sql, belongsTo(place))
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .orderBy('id')
    .forUpdate('floating_ips')
    .execute();
}

/** Locks the floating IPs on the ports in the same order and returns them. */
export async function lockOnPorts(tx: Transaction, portIds: string[]): Promise<FloatingIpRow[]> {
  return tx.sql
    .selectFrom('floating_ips')
    .selectAll('floating_ips')
    .select(ROUTER)
    .where(sql<boolean>`port_id = any(${portIds}::uuid[])`)
    .orderBy('id')
    .forUpdate('floating_ips')
    .execute();
}

export async function instanceOn(tx: Transaction, portId: string): Promise<string | null> {
  const port = await tx.sql.selectFrom('ports').select('instance_id').where('id', '=', portId).executeTakeFirst();
  return port?.instance_id ?? null;
}

export async function onPorts(db: Sql, portIds: string[]): Promise<FloatingIpRow[]> {
  return db
    .selectFrom('floating_ips')
    .selectAll('floating_ips')
    .select(ROUTER)
    .where(sql<boolean>`port_id = any(${portIds}::uuid[])`)
    .orderBy('address')
    .execute();
}

/** Returns those of the floating IPs that the project has and nothing deletes. */
export async function staying(db: Sql, place: Place, ids: readonly string[]): Promise<string[]> {
  const found = await db
    .selectFrom('floating_ips')
    .select('id')
    .where(belongsTo(place))
    .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
    .where(sql<boolean>`not exists (select from tasks where tasks.id = task_id and task_type = 'delete_fip')`)
    .execute();
  return found.map(({ id }) => id);
}

export async function insertFloatingIp(
  tx: Transaction,
  place: Place,
  one: {
    id: string;
    address: string;
    portId: string | null;
    fixedAddress: string | null;
    tags: Record<string, string>;
  },
  taskId: string,
): Promise<void> {
  await tx.sql
    .insertInto('floating_ips')
    .values({
      id: one.id,
      address: one.address,
      port_id: one.portId,
      fixed_address: one.fixedAddress,
      tags: JSON.stringify(one.tags),
      ...newResource(place, taskId, tx.now),
    })
    .execute();
}

export async function changeFloatingIp(
  tx: Transaction,
  id: string,
  change: Updateable<Pick<Tables['floating_ips'], 'port_id' | 'fixed_address' | 'tags' | 'task_id'>>,
): Promise<void> {
  await tx.sql
    .updateTable('floating_ips')
    .set({ ...change, updated_at: tx.now })
    .where('id', '=', id)
    .execute();
}

/** Whether the port has the address and no other floating IP uses it. If so, the port is locked against removal. */
export async function isFree(tx: Transaction, id: string, target: { port_id: string; fixed_address: string }) {
  const { rows } = await sql`
    select from ports join ip_assignments as assigned on assigned.port_id = ports.id
    where ports.id = ${target.port_id} and assigned.address = ${target.fixed_address}::inet
      and not exists (select from floating_ips as other where other.port_id = ports.id
        and other.fixed_address = assigned.address and other.id <> ${id})
    for key share of ports`.execute(tx.sql);
  return rows.length > 0;
}

export async function deleteFloatingIp(tx: Transaction, id: string): Promise<void> {
  await tx.sql.deleteFrom('floating_ips').where('id', '=', id).execute();
}

export async function hold(tx: Transaction, ids: string[], taskId: string): Promise<void> {
  await sql`update floating_ips set task_id = ${taskId} where id = any(${ids}::uuid[])`.execute(tx.sql);
}

/** Frees the floating IPs that the task held. */
export async function settle(tx: Transaction, taskId: string): Promise<void> {
  await lockHeld(tx, taskId, []);
  await sql`update floating_ips set task_id = null, updated_at = ${tx.now} where task_id = ${taskId}`.execute(tx.sql);
}

/**
 * Unassigns the floating IPs that the task held or that are on the ports, and deletes the doomed ones. Returns the IDs
 * of the deleted ones; the caller releases their addresses.
 */
export async function letGo(
  tx: Transaction,
  taskId: string,
  { portIds, doomed }: { portIds: string[]; doomed: string[] },
): Promise<string[]> {
  await lockHeld(tx, taskId, portIds);
  const { rows } = await sql<{ id: string }>`
    delete from floating_ips where id = any(${doomed}::uuid[]) and task_id = ${taskId} returning id`.execute(tx.sql);
  await sql`
    update floating_ips set port_id = null, fixed_address = null, updated_at = ${tx.now},
      task_id = nullif(task_id, ${taskId})
    where task_id = ${taskId} or port_id = any(${portIds}::uuid[])`.execute(tx.sql);
  return rows.map(({ id }) => id);
}

/** Locks the subnets of the ports first, as those do who change where floating IPs lead: their addresses are given back next. */
async function lockHeld(tx: Transaction, taskId: string, portIds: string[]): Promise<void> {
  await sql`
    with before as materialized (${lockingSubnets(sql`port_id = any(${portIds}::uuid[])`)})
    select from floating_ips
    where (select count(*) from before) >= 0 and (task_id = ${taskId} or port_id = any(${portIds}::uuid[]))
    order by id for update`.execute(tx.sql);
}
