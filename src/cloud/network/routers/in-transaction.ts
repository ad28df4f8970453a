import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { make, remove, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { newResource } from '../../../db/place.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { refuseHeld } from '../../../lib/held.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { attach, detach } from './attachment.ts';
import { takeOutside } from './gateway.ts';
import * as store from './store.ts';
import { asInRow, routerSpec } from './wanted.ts';

/** What networks, subnets and floating IPs do with routers. Lock ports, floating IPs and subnets before routers. */

export { removeRouter } from './removal.ts';
export { lockFloatingIpsIn } from './store.ts';

/** Longer names are cut, so that the name of the router has at most 63 characters. */
const MOST_OF_NAME = 56;

/** Inserts the router of a new network, which leads out if the region has an external network. */
export async function makeRouterOf(
  tx: Transaction,
  scope: Scope,
  network: { id: string; name: string },
  taskId: string,
  now: Date,
): Promise<{ id: string; wanted: Wanted }> {
  const id = randomUUID();
  const outside = scope.region.external_network_id;
  await store.insertRouter(tx, {
    id,
    name: `${network.name.slice(0, MOST_OF_NAME)}_router`,
    routes: JSON.stringify([]),
    gateway_network_id: outside,
    enable_snat: outside !== null,
    network_id: network.id,
    ...newResource(scope, taskId, now),
  });
  await takeOutside(tx, scope, await store.readRouter(tx, id));
  return { id, wanted: make('router', id, routerSpec(await store.readRouter(tx, id))) };
}

/** Ends the task's hold on the router that was made with a network. */
export async function settleRouter(tx: Transaction, id: string): Promise<void> {
  await store.changeRouter(tx, id, { task_id: null });
}

/**
 * Attaches a new subnet to the router with the ID; without one, to the router that was made with the network, if it is
 * still there. Returns what is wanted then.
 * @throws InvalidError, ConflictError while a task holds the router, or when it has an overlapping subnet
 */
export async function connect(
  tx: Transaction,
  scope: Scope,
  subnet: Omit<store.SubnetRow, 'task_id'>,
  routerId: string | null,
  now: Date,
): Promise<Wanted[]> {
  const router = routerId === null ? await store.lockRouterOf(tx, subnet.network_id) : await named(routerId);
  if (!router) return [];
  refuseHeld(`Router ${router.name}`, router);
  const attached = await attach(tx, scope, router, { subnet, field: 'gateway_ip', now });
  await store.changeRouter(tx, router.id, { updated_at: now });
  return [asInRow(attached)];

  async function named(id: string): Promise<store.RouterRow> {
    const found = isUuid(id) ? await store.lockRouter(tx, scope, id) : undefined;
    if (found) return found;
    throw new InvalidError({ router_id_to_connect: [`No router ${id} in this project and region.`] });
  }
}

/**
 * Takes all routers out of subnets that are deleted and have no ports. Returns what is wanted then.
 * @throws ConflictError for routes through them, and while a task holds one of the routers
 */
export async function disconnect(
  tx: Transaction,
  subnetIds: readonly string[],
  now: Date,
  except?: string,
): Promise<Wanted[]> {
  const wanted: Wanted[] = [];
  for (const router of await store.lockRoutersIn(tx, subnetIds)) {
    if (router.id === except) continue;
    refuseHeld(`Router ${router.name}`, router);
    wanted.push(asInRow(await detach(tx, router, subnetIds)));
    await store.changeRouter(tx, router.id, { updated_at: now });
  }
  return wanted;
}

/**
 * Takes all routers out of a network that is deleted. The router that was made with it goes as well, unless it has
 * subnets of other networks: `routerId` is its ID, and the task holds it.
 * @throws ConflictError as `disconnect`
 */
export async function leaveNetwork(
  tx: Transaction,
  networkId: string,
  subnetIds: readonly string[],
  taskId: string,
  now: Date,
): Promise<{ routerId?: string; removed: Wanted[]; changed: Wanted[] }> {
  const own = await store.lockRouterOf(tx, networkId);
  if (own) refuseHeld(`Router ${own.name}`, own);
  const goes = own?.interfaces.every(({ network_id }) => network_id === networkId) === true;
  if (!own || !goes) {
    if (own) await store.changeRouter(tx, own.id, { network_id: null });
    return { removed: [], changed: await disconnect(tx, subnetIds, now) };
  }
  const changed = await disconnect(tx, subnetIds, now, own.id);
  await store.changeRouter(tx, own.id, { task_id: taskId });
  return { routerId: own.id, removed: [remove('router', own.id)], changed };
}

/**
 * The router that has a subnet's gateway address takes the new one; without a gateway, it leaves the subnet. Returns what
 * is wanted then.
 * @throws ConflictError while a task holds the router, and for routes and floating IPs that don't allow it
 */
export async function followGateway(
  tx: Transaction,
  subnet: { id: string; gateway_ip: string | null },
  gateway: string | null,
  now: Date,
): Promise<Wanted[]> {
  const there = await store.lockRoutersIn(tx, [subnet.id]);
  const router = there.find(({ interfaces }) =>
    interfaces.some((one) => one.subnet_id === subnet.id && one.address === subnet.gateway_ip),
  );
  if (!router) return [];
  refuseHeld(`Router ${router.name}`, router);
  if (gateway === null) await detach(tx, router, [subnet.id]);
  else {
    if (router.routes.some(({ nexthop }) => nexthop === gateway)) {
      throw new ConflictError(`Router ${router.name} has a route through ${gateway}; remove it first`);
    }
    await store.moveInterface(tx, router.id, subnet.id, gateway);
  }
  await store.changeRouter(tx, router.id, { updated_at: now });
  return [asInRow(await store.readRouter(tx, router.id))];
}

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
export async function noWayOut(
  tx: Transaction,
  portId: string,
  address: string,
): Promise<ConflictError | undefined> {
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
