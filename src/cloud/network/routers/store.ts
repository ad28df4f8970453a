import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { belongsTo, isIn, type Place, type Sql, type Transaction } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import type { Page } from '../../../lib/page.ts';
import type { RouterListQuery } from './schema.ts';

interface InterfaceRow {
  port_id: string;
  network_id: string;
  subnet_id: string;
  cidr: string;
  address: string;
  mac_address: string;
  attached_at: string;
}

export type RouterRow = Selectable<Tables['routers']> & {
  /** In the order of attachment. */
  interfaces: InterfaceRow[];
  /** Its addresses in the external network. */
  outside: { address: string; subnet_id: string; cidr: string }[];
};

function routers(db: Sql) {
  return db
    .selectFrom('routers')
    .selectAll('routers')
    .select(
      sql<InterfaceRow[]>`(
        select coalesce(json_agg(json_build_object('port_id', port_id, 'network_id', subnets.network_id,
          'subnet_id', subnet_id, 'cidr', cidr, 'address', host(address), 'mac_address', mac_address,
          'attached_at', router_interfaces.created_at)
          order by router_interfaces.created_at, cidr, port_id), '[]')
        from router_interfaces join subnets on subnets.id = subnet_id where router_id = routers.id)`.as('interfaces'),
    )
    .select(
      sql<RouterRow['outside']>`(
        select coalesce(json_agg(json_build_object('address', host(address), 'subnet_id', subnet_id, 'cidr', cidr)
          order by cidr, address), '[]')
        from ip_assignments join subnets on subnets.id = subnet_id
        where router_id = routers.id and subnets.network_id = gateway_network_id)`.as('outside'),
    );
}

export async function findRouter(db: Sql, place: Place, id: string): Promise<RouterRow | undefined> {
  return routers(db).where('id', '=', id).where(belongsTo(place)).executeTakeFirst();
}

export async function listRouters(db: Sql, place: Place, query: RouterListQuery): Promise<Page<RouterRow>> {
  let matching = routers(db).where(isIn(place));
  if (query.name !== undefined) matching = matching.where('name', '=', query.name);
  return pageWithCount(matching.orderBy('created_at', 'desc').orderBy('id', 'desc'), query);
}

/** Locks the routers with these IDs, always in the same order. Lock subnets before them. */
async function lock(tx: Transaction, ids: readonly string[]): Promise<void> {
  await sql`select from routers where id = any(${ids}::uuid[]) order by id for update`.execute(tx.sql);
}

/** Locks a router against other changes until the transaction ends, and returns it as it is from then on. */
export async function lockRouter(tx: Transaction, place: Place, id: string): Promise<RouterRow | undefined> {
  await lock(tx, [id]);
  return findRouter(tx.sql, place, id);
}

/** Locks the routers that have interfaces in the subnets, and returns them. */
export async function lockRoutersIn(tx: Transaction, subnetIds: readonly string[]): Promise<RouterRow[]> {
  const there = sql<boolean>`id in (
    select router_id from router_interfaces where subnet_id = any(${subnetIds}::uuid[]))`;
  const found = await tx.sql.selectFrom('routers').select('id').where(there).execute();
  await lock(
    tx,
    found.map(({ id }) => id),
  );
  return routers(tx.sql).where(there).orderBy('id').execute();
}

/** Locks the router that was made with the network, and returns it. */
export async function lockRouterOf(tx: Transaction, networkId: string): Promise<RouterRow | undefined> {
  const found = await tx.sql
    .selectFrom('routers')
    .select('id')
    .where('network_id', '=', networkId)
    .forUpdate()
    .executeTakeFirst();
  return found && (await readRouter(tx, found.id));
}

/** Reads a router that the transaction has locked or inserted. */
export async function readRouter(tx: Transaction, id: string): Promise<RouterRow> {
  return routers(tx.sql).where('id', '=', id).executeTakeFirstOrThrow();
}

export async function insertRouter(tx: Transaction, row: Insertable<Tables['routers']>): Promise<void> {
  await tx.sql.insertInto('routers').values(row).execute();
}

export async function changeRouter(tx: Transaction, id: string, change: Updateable<Tables['routers']>): Promise<void> {
  await tx.sql.updateTable('routers').set(change).where('id', '=', id).execute();
}

/** Deletes a router with its interfaces. Returns whether it existed. */
export async function deleteRouter(tx: Transaction, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.sql.deleteFrom('routers').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function insertInterface(tx: Transaction, row: Insertable<Tables['router_interfaces']>): Promise<void> {
  await tx.sql.insertInto('router_interfaces').values(row).execute();
}

/** Whether a router has the address in the subnet, which must be locked. */
export async function hasRouterAt(tx: Transaction, subnetId: string, address: string): Promise<boolean> {
  const { rows } = await sql`
    select from router_interfaces where subnet_id = ${subnetId} and address = ${address}::inet`.execute(tx.sql);
  return rows.length > 0;
}

/** Gives the router another address in the subnet, the new gateway's, which is kept for it. */
export async function moveInterface(tx: Transaction, routerId: string, subnetId: string, address: string) {
  await sql`
    update router_interfaces set address = ${address}::inet
    where router_id = ${routerId} and subnet_id = ${subnetId}`.execute(tx.sql);
}

export async function deleteInterfaces(tx: Transaction, routerId: string, subnetIds: readonly string[]): Promise<void> {
  await tx.sql
    .deleteFrom('router_interfaces')
    .where('router_id', '=', routerId)
    .where(sql<boolean>`subnet_id = any(${subnetIds}::uuid[])`)
    .execute();
}

/** A subnet of the project that a router may be attached to. */
export type SubnetRow = Pick<
  Selectable<Tables['subnets']>,
  'id' | 'name' | 'network_id' | 'cidr' | 'gateway_ip' | 'task_id'
>;

/**
 * Locks subnets of the project against changes, and against new floating IPs on their addresses, which depend on who
 * routes the subnet.
 */
export async function lockSubnets(tx: Transaction, place: Place, ids: readonly string[]): Promise<SubnetRow[]> {
  if (ids.length === 0) return [];
  return tx.sql
    .selectFrom('subnets')
    .innerJoin('networks', 'networks.id', 'subnets.network_id')
    .select(['subnets.id', 'subnets.name', 'network_id', 'cidr', 'gateway_ip', 'subnets.task_id'])
    .where(sql<boolean>`subnets.id = any(${ids}::uuid[])`)
    .where(belongsTo(place, 'networks'))
    .orderBy('subnets.id')
    .forUpdate('subnets')
    .execute();
}

/** Returns the ranges of the IPv4 and IPv6 subnets of an external network. */
export async function rangesOf(tx: Transaction, networkId: string): Promise<string[]> {
  const rows = await tx.sql.selectFrom('subnets').select('cidr').where('network_id', '=', networkId).execute();
  return rows.map(({ cidr }) => cidr);
}

export async function isExternal(tx: Transaction, regionId: number, networkId: string): Promise<boolean> {
  const found = await tx.sql
    .selectFrom('networks')
    .select('id')
    .where('id', '=', networkId)
    .where('region_id', '=', regionId)
    .where('external', '=', true)
    .executeTakeFirst();
  return found !== undefined;
}

/** Returns the subnets that the router is attached to; none if it is gone. */
export async function subnetsOf(tx: Transaction, routerId: string): Promise<string[]> {
  const there = tx.sql.selectFrom('router_interfaces').select('subnet_id').where('router_id', '=', routerId);
  return (await there.execute()).map(({ subnet_id }) => subnet_id);
}

/** Returns the external subnets in which the router has an address, but for those of the network that it leads to. */
export async function outsideOf(tx: Transaction, routerId: string): Promise<string[]> {
  const rows = await tx.sql
    .selectFrom('ip_assignments')
    .innerJoin('subnets', 'subnets.id', 'ip_assignments.subnet_id')
    .innerJoin('networks', 'networks.id', 'subnets.network_id')
    .innerJoin('routers', 'routers.id', 'router_id')
    .select('subnet_id')
    .where('router_id', '=', routerId)
    .where('external', '=', true)
    .where('networks.id', 'is distinct from', ({ ref }) => ref('gateway_network_id'))
    .execute();
  return rows.map(({ subnet_id }) => subnet_id);
}

/** A floating IP that would have no way out, the task that holds it, and the instance that it leads to. */
export interface StrandedRow {
  id: string;
  address: string;
  task_id: string | null;
  instance_id: string | null;
}

/**
 * Returns up to a hundred floating IPs on addresses of the subnets that would have no way out if the router led nowhere.
 * With `detached`, it leaves the subnets as well, so that the platform routes those again that it routed before. The
 * router must be locked.
 */
export async function strandedWithout(
  tx: Transaction,
  routerId: string,
  subnetIds: readonly string[],
  { detached }: { detached: boolean },
): Promise<StrandedRow[]> {
  const { rows } = await sql<StrandedRow>`
    select distinct floating_ips.id, floating_ips.address, floating_ips.task_id, ports.instance_id from ip_assignments as assigned
    join floating_ips on floating_ips.port_id = assigned.port_id and fixed_address = assigned.address
    join ports on ports.id = assigned.port_id
    join subnets on subnets.id = assigned.subnet_id
    join networks on networks.id = subnets.network_id
    where assigned.subnet_id = any(${subnetIds}::uuid[])
      and not exists (
        select from router_interfaces as other join routers on routers.id = other.router_id
        where other.subnet_id = subnets.id and other.router_id <> ${routerId} and gateway_network_id is not null)
      and not (platform_routed and ${detached} and not exists (
        select from router_interfaces as other where other.subnet_id = subnets.id and other.router_id <> ${routerId}))
    order by floating_ips.address limit 100`.execute(tx.sql);
  return rows;
}

/** Locks the floating IPs on addresses of the subnets, and returns them. */
export async function lockFloatingIpsIn(tx: Transaction, subnetIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select floating_ips.id from floating_ips
    join ip_assignments as assigned on assigned.port_id = floating_ips.port_id and assigned.address = fixed_address
    where assigned.subnet_id = any(${subnetIds}::uuid[]) order by floating_ips.id for no key update of floating_ips`.execute(
    tx.sql,
  );
  return rows.map(({ id }) => id);
}
