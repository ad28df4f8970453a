import { randomUUID } from 'node:crypto';
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

/** What networks and subnets do with routers. Lock ports, floating IPs and subnets before routers. */

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
  except?: string,
): Promise<Wanted[]> {
  const wanted: Wanted[] = [];
  for (const router of await store.lockRoutersIn(tx, subnetIds)) {
    if (router.id === except) continue;
    refuseHeld(`Router ${router.name}`, router);
    wanted.push(asInRow(await detach(tx, router, subnetIds)));
    await store.changeRouter(tx, router.id, { updated_at: tx.now });
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
): Promise<{ routerId?: string; removed: Wanted[]; changed: Wanted[] }> {
  const own = await store.lockRouterOf(tx, networkId);
  if (own) refuseHeld(`Router ${own.name}`, own);
  const goes = own?.interfaces.every(({ network_id }) => network_id === networkId) === true;
  if (!own || !goes) {
    if (own) await store.changeRouter(tx, own.id, { network_id: null });
    return { removed: [], changed: await disconnect(tx, subnetIds) };
  }
  const changed = await disconnect(tx, subnetIds, own.id);
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
  await store.changeRouter(tx, router.id, { updated_at: tx.now });
  return [asInRow(await store.readRouter(tx, router.id))];
}
