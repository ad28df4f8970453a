import { isDeepStrictEqual } from 'node:util';
import { make, remove, type Wanted } from '../../../convergence/wants.ts';
import { newResource, type Transaction } from '../../../db/database.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { foundById, isUuid, newId, newTaskId, refuseHeld } from '../../../lib/ids.ts';
import type { MetricsQuestion } from '../../../lib/node-settings.ts';
import type { Page } from '../../../lib/page.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { quotaOwner, takeQuota } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import * as tasks from '../../ground/tasks/service.ts';
import * as addresses from '../addresses/in-transaction.ts';
import { asInRows as floatingIpsAsInRows } from '../floating-ips/tasks.ts';
import { attach, detach, overlap, refuseStranded, refuseUnreachable, routesFrom } from './attachment.ts';
import { idleInterfaces } from './metrics.ts';
import type { AttachSubnet, CreateRouter, RouterListQuery, UpdateRouter, UpdateRouterNow } from './schema.ts';
import * as store from './store.ts';
import { asInRow, CREATE_ROUTER, DELETE_ROUTER, releaseOutside, routerSpec, UPDATE_ROUTER } from './tasks.ts';

/** The external network that a router leads to. */
interface Gateway {
  networkId: string;
  /** Whether another one will do as well. */
  anyNetwork: boolean;
  enableSnat: boolean;
}

interface GatewayWish {
  type?: 'default' | 'manual' | undefined;
  network_id?: string | undefined;
  enable_snat?: boolean | null | undefined;
}

const FIELD = 'external_gateway_info';

/** @throws InvalidError for a network that is no external one of the region, and for a region without one */
export async function wantedGateway(tx: Transaction, scope: Scope, wish: GatewayWish): Promise<Gateway> {
  const { type, network_id: named } = wish;
  const enableSnat = wish.enable_snat ?? true;
  if (type === 'manual' && named === undefined) {
    throw new InvalidError({ [`${FIELD}.network_id`]: ['Is required with type manual.'] });
  }
  if (named === undefined) {
    const networkId = scope.region.external_network_id;
    if (networkId !== null) return { networkId, anyNetwork: true, enableSnat };
    throw new InvalidError({ [FIELD]: ['This region has no external network; leave it out.'] });
  }
  if (type === 'default') {
    throw new InvalidError({
      [`${FIELD}.network_id`]: ['Is only allowed with type manual; the platform chooses with type default.'],
    });
  }
  if (await store.isExternal(tx, scope.regionId, named)) {
    return { networkId: named.toLowerCase(), anyNetwork: false, enableSnat };
  }
  throw new InvalidError({ [`${FIELD}.network_id`]: [`No external network ${named} in this region.`] });
}

/**
 * Takes an address outside for a router that leads there from now on. Its row must be written. If any network will do, it is
 * the first that has an address.
 * @throws ConflictError when a subnet overlaps the external network, or no address is left
 */
export async function takeOutside(
  tx: Transaction,
  scope: Scope,
  router: store.RouterRow,
  { anyNetwork }: { anyNetwork: boolean },
): Promise<void> {
  const { gateway_network_id: networkId } = router;
  if (networkId === null) return;
  const family = 'IPv4' as const;
  const from = anyNetwork ? { kind: 'external' as const, family } : { kind: 'any-subnet' as const, networkId, family };
  const [taken] = await addresses.take(tx, scope, [{ holder: { router: router.id }, field: FIELD, from }]);
  const reached = taken?.networkId ?? networkId;
  if (reached !== networkId) await store.changeRouter(tx, router.id, { gateway_network_id: reached });
  const ranges = await store.rangesOf(tx, reached);
  for (const { cidr } of router.interfaces) {
    const other = ranges.find((range) => overlap(range, cidr));
    if (other === undefined) continue;
    throw new ConflictError(
      `Router ${router.name} is attached to ${cidr}, which overlaps ${other} of the external network`,
    );
  }
}

type Router = store.RouterRow;

/** @throws NotFoundError */
export const getRouter = (on: Platform, scope: Scope, id: string) =>
  foundById('Router', id, () => store.findRouter(on.database.sql, scope, id));

/**
 * Creates a router, which can be read at once. Returns the ID of the task that makes it work.
 * @throws InvalidError, ConflictError, QuotaExceededError
 */
export async function createRouter(on: Platform, scope: Scope, request: CreateRouter): Promise<string> {
  const { routes, problems } = routesFrom(request.routes ?? []);
  if (problems.length > 0) throw new InvalidError(problems);
  const [id, taskId] = [newId(), newTaskId()];
  const asked = (request.interfaces ?? []).map(({ subnet_id }) => subnet_id.toLowerCase());
  return on.database.accept(async (tx) => {
    const wish = request.external_gateway_info ?? undefined;
    const gateway = wish && (await wantedGateway(tx, scope, wish));
    const subnets = await freeSubnets(tx, scope, asked, (index) => `interfaces.${index}.subnet_id`);
    tx.about({ type: 'router', id, name: request.name });
    await store.insertRouter(tx, {
      id,
      name: request.name,
      routes: JSON.stringify(routes),
      gateway_network_id: gateway?.networkId ?? null,
      enable_snat: gateway?.enableSnat ?? false,
      network_id: null,
      ...newResource(scope, taskId, tx.now),
    });
    let router = await store.readRouter(tx, id);
    for (const [index, subnet] of subnets.entries()) {
      const field = `interfaces.${index}.subnet_id`;
      router = await attach(tx, scope, router, { subnet, field });
    }
    await takeOutside(tx, scope, router, { anyNetwork: gateway?.anyNetwork ?? false });
    router = await store.readRouter(tx, id);
    refuseUnreachable(router);
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE_ROUTER,
      data: request,
      input: { routerId: id, ...quotaOwner(scope) },
      wants: [make('router', id, routerSpec(router))],
    });
    await rerouted(on, tx, scope, asked);
    takeQuota(tx, scope, 'router_count');
    return taskId;
  });
}

export const listRouters = (on: Platform, scope: Scope, query: RouterListQuery): Promise<Page<Router>> =>
  store.listRouters(on.database.sql, scope, query);

/** @throws NotFoundError */
export const routerMetrics = async (on: Platform, scope: Scope, id: string, question: MetricsQuestion) =>
  idleInterfaces(await getRouter(on, scope, id), question, on.clock.now());

/**
 * Changes the router now.
 * @throws NotFoundError, InvalidError, ConflictError while a task holds it or floating IPs need its gateway
 */
export const updateRouterNow = (on: Platform, scope: Scope, id: string, change: UpdateRouterNow): Promise<void> =>
  on.database.accept(async (tx) => {
    const { former, router } = await changed(tx, scope, id, withoutNulls(change));
    if (former === undefined) return;
    await releaseOutside(tx, router.id);
    await tasks.wantChecked(on, tx, scope, [asInRow(router)]);
    await rerouted(on, tx, scope, subnetsOf(router));
  });

/**
 * Returns the ID of the task that changes the router. If nothing changes, it is undefined, or with `taskAnyway` that of one
 * that is FINISHED. Throws as `updateRouterNow`.
 */
export const updateRouter = (
  on: Platform,
  scope: Scope,
  id: string,
  change: UpdateRouter,
  options: tasks.TaskAnyway,
): Promise<string | undefined> =>
  on.database.accept(async (tx) => {
    const { former, router } = await changed(tx, scope, id, change);
    const data = { router_id: router.id, ...change };
    if (former === undefined) {
      return tasks.unchangedTask(on, tx, scope, { type: UPDATE_ROUTER.type, data }, options);
    }
    const taskId = newTaskId();
    await store.changeRouter(tx, router.id, { task_id: taskId });
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: UPDATE_ROUTER,
      data,
      input: { routerId: router.id, former },
      wants: [asInRow(router)],
    });
    await rerouted(on, tx, scope, subnetsOf(router));
    return taskId;
  });

/**
 * Returns the task that deletes the router with its interfaces.
 * @throws NotFoundError, ConflictError while floating IPs need it or a task holds it
 */
export const deleteRouter = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const router = await lockAlsoHeld(tx, scope, id);
    const again = await tasks.removeAgain(on, tx, scope, router.task_id, DELETE_ROUTER);
    if (again !== undefined) return again;
    refuseHeld(`Router ${router.name}`, router);
    const subnetIds = subnetsOf(router);
    if (router.gateway_network_id !== null) {
      await refuseStranded(tx, router, subnetIds, { detached: true });
    }
    const taskId = tasks.deletionId(scope);
    await store.changeRouter(tx, router.id, { task_id: taskId });
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_ROUTER,
      data: { router_id: router.id },
      input: { routerId: router.id, ...quotaOwner(scope) },
      wants: [remove('router', router.id)],
    });
    await rerouted(on, tx, scope, subnetIds);
    return taskId;
  });

/** @throws NotFoundError, InvalidError, ConflictError while a task holds one of them or the address is taken */
export const attachSubnet = (on: Platform, scope: Scope, id: string, request: AttachSubnet): Promise<void> =>
  on.database.accept(async (tx) => {
    // Subnets are locked before routers, but a missing router is said first.
    await foundById('Router', id, () => store.findRouter(tx.sql, scope, id));
    const [subnet] = await freeSubnets(tx, scope, [request.subnet_id.toLowerCase()], () => 'subnet_id');
    const router = await lockFree(tx, scope, id);
    if (!subnet) throw new TypeError('an unknown subnet was refused');
    const { ip_address: address } = request;
    const where = { subnet, field: 'subnet_id', ...(address !== undefined && { address }) };
    const attached = await attach(tx, scope, router, where);
    await store.changeRouter(tx, router.id, { updated_at: tx.now });
    await tasks.wantChecked(on, tx, scope, [asInRow(attached)]);
    await rerouted(on, tx, scope, [subnet.id]);
  });

/** @throws NotFoundError, InvalidError, ConflictError while a task holds it, or routes or floating IPs need it there */
export const detachSubnet = (on: Platform, scope: Scope, id: string, given: string): Promise<void> =>
  on.database.accept(async (tx) => {
    const subnetId = given.toLowerCase();
    await store.lockSubnets(tx, scope, [subnetId]);
    const router = await lockFree(tx, scope, id);
    if (!router.interfaces.some((one) => one.subnet_id === subnetId)) {
      throw new InvalidError({ subnet_id: [`Router ${router.id} is not attached to subnet ${given}.`] });
    }
    const left = await detach(tx, router, [subnetId]);
    await store.changeRouter(tx, router.id, { updated_at: tx.now });
    await tasks.wantChecked(on, tx, scope, [asInRow(left)]);
    await rerouted(on, tx, scope, [subnetId]);
  });

/**
 * Writes the change. `former` is what the router was before; undefined if nothing changes. The address of a gateway
 * that it loses stays taken.
 */
async function changed(tx: Transaction, scope: Scope, id: string, change: UpdateRouter) {
  const { routes, problems } = routesFrom(change.routes ?? []);
  const wish = change.external_gateway_info;
  const router = await lockFree(tx, scope, id);
  if (problems.length > 0) throw new InvalidError(problems);
  const { name, gateway_network_id, enable_snat } = router;
  const former = { name, routes: router.routes, gateway_network_id, enable_snat };
  const gateway = wish && (await wantedGateway(tx, scope, wish));
  const next = {
    name: change.name ?? name,
    routes: change.routes === undefined ? router.routes : routes,
    gateway_network_id: wish === undefined ? gateway_network_id : (gateway?.networkId ?? null),
    enable_snat: wish === undefined ? enable_snat : (gateway?.enableSnat ?? false),
  };
  if (isDeepStrictEqual(former, next)) return { former: undefined, router };
  if (gateway_network_id !== null && next.gateway_network_id === null) {
    await refuseStranded(tx, router, subnetsOf(router), { detached: false });
  }
  const written = { ...next, routes: JSON.stringify(next.routes), updated_at: tx.now };
  await store.changeRouter(tx, router.id, written);
  // What it has in the former network stays taken: it may lead there again.
  if (gateway_network_id !== next.gateway_network_id) {
    await takeOutside(tx, scope, { ...router, ...next }, { anyNetwork: gateway?.anyNetwork ?? false });
  }
  const after = await store.readRouter(tx, router.id);
  refuseUnreachable(after);
  return { former, router: after };
}

/** Floating IPs in the subnets may have got another way out. */
async function rerouted(on: Platform, tx: Transaction, scope: Scope, subnetIds: readonly string[]): Promise<void> {
  const floatingIps = await store.lockFloatingIpsIn(tx, subnetIds);
  await tasks.wantChecked(on, tx, scope, await floatingIpsAsInRows(tx, floatingIps));
}

/** Null keeps a name and routes, but removes a gateway. */
function withoutNulls({ name, routes, ...change }: UpdateRouterNow): UpdateRouter {
  return {
    ...change,
    ...(typeof name === 'string' && { name }),
    ...(Array.isArray(routes) && { routes }),
  };
}

/** Locks the subnets and returns them in the given order. @throws InvalidError, ConflictError while a task holds one */
async function freeSubnets(tx: Transaction, scope: Scope, ids: readonly string[], fieldOf: (index: number) => string) {
  const found = new Map((await store.lockSubnets(tx, scope, ids)).map((row) => [row.id, row]));
  const problems = ids.flatMap((id, index) => {
    const field = fieldOf(index);
    if (!found.has(id)) return [{ field, message: `No subnet ${id} in this project and region.` }];
    return ids.indexOf(id) < index ? [{ field, message: `Subnet ${id} is listed twice.` }] : [];
  });
  if (problems.length > 0) throw new InvalidError(problems);
  for (const subnet of found.values()) refuseHeld(`Subnet ${subnet.name}`, subnet);
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** @throws NotFoundError, ConflictError while a task holds it */
async function lockFree(tx: Transaction, scope: Scope, id: string): Promise<Router> {
  const router = await lockAlsoHeld(tx, scope, id);
  refuseHeld(`Router ${router.name}`, router);
  return router;
}

async function lockAlsoHeld(tx: Transaction, scope: Scope, id: string): Promise<Router> {
  const router = isUuid(id) ? await store.lockRouter(tx, scope, id) : undefined;
  if (!router) throw new NotFoundError('Router', id);
  tx.about({ type: 'router', id: router.id, name: router.name });
  return router;
}

const subnetsOf = ({ interfaces }: Router): string[] => interfaces.map((one) => one.subnet_id);

export const routerDeletion = waitingDeletion('delete_router', deleteRouter, ['router_id']);

/** What networks and subnets do with routers. Lock ports, floating IPs and subnets before routers. */

export { lockFloatingIpsIn } from './store.ts';
export { removeRouter } from './tasks.ts';

/** Longer names are cut, so that the name of the router has at most 63 characters. */
const MOST_OF_NAME = 56;

/** Inserts the router of a new network, which leads out if the region has an external network. */
export async function makeRouterOf(
  tx: Transaction,
  scope: Scope,
  network: { id: string; name: string },
  taskId: string,
): Promise<{ id: string; wanted: Wanted }> {
  const id = newId();
  const outside = scope.region.external_network_id;
  await store.insertRouter(tx, {
    id,
    name: `${network.name.slice(0, MOST_OF_NAME)}_router`,
    routes: JSON.stringify([]),
    gateway_network_id: outside,
    enable_snat: outside !== null,
    network_id: network.id,
    ...newResource(scope, taskId, tx.now),
  });
  await takeOutside(tx, scope, await store.readRouter(tx, id), { anyNetwork: true });
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
): Promise<Wanted[]> {
  const router = routerId === null ? await store.lockRouterOf(tx, subnet.network_id) : await named(routerId);
  if (!router) return [];
  refuseHeld(`Router ${router.name}`, router);
  const attached = await attach(tx, scope, router, { subnet, field: 'gateway_ip' });
  await store.changeRouter(tx, router.id, { updated_at: tx.now });
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
export async function disconnect(tx: Transaction, subnetIds: readonly string[], except?: string): Promise<Wanted[]> {
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
