import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { make, remove } from '../../../convergence/wants.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { newResource } from '../../../db/place.ts';
import type { Clock } from '../../../lib/clock.ts';
import { InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { foundById } from '../../../lib/found.ts';
import { refuseHeld } from '../../../lib/held.ts';
import type { MetricsQuestion } from '../../../lib/idle-times.ts';
import { isUuid, newTaskId } from '../../../lib/ids.ts';
import type { Page } from '../../../lib/page.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { quotaOwner, takeQuota } from '../../ground/quotas/in-transaction.ts';
import { deletionId, type TaskAnyway, type Tasks } from '../../ground/tasks/service.ts';
import { asInRows as floatingIpsAsInRows } from '../floating-ips/wanted.ts';
import { attach, detach, refuseStranded, refuseUnreachable } from './attachment.ts';
import { takeOutside, wantedGateway } from './gateway.ts';
import { idleInterfaces } from './metrics.ts';
import type { AttachSubnet, CreateRouter, RouterListQuery, UpdateRouter, UpdateRouterNow } from './schema.ts';
import { routesFrom } from './static-routing.ts';
import * as store from './store.ts';
import { CREATE_ROUTER, DELETE_ROUTER, releaseOutside, UPDATE_ROUTER } from './tasks.ts';
import { asInRow, routerSpec } from './wanted.ts';

type Router = store.RouterRow;

export interface Routers {
  /**
   * Creates a router, which can be read at once. Returns the ID of the task that makes it work.
   * @throws InvalidError, ConflictError, QuotaExceededError
   */
  create(scope: Scope, request: CreateRouter): Promise<string>;
  list(scope: Scope, query: RouterListQuery): Promise<Page<Router>>;
  /** @throws NotFoundError */
  get(scope: Scope, id: string): Promise<Router>;
  /** @throws NotFoundError */
  metrics(scope: Scope, id: string, question: MetricsQuestion): Promise<ReturnType<typeof idleInterfaces>>;
  /**
   * Changes the router now.
   * @throws NotFoundError, InvalidError, ConflictError while a task holds it or floating IPs need its gateway
   */
  updateNow(scope: Scope, id: string, change: UpdateRouterNow): Promise<void>;
  /**
   * Returns the ID of the task that changes the router. If nothing changes, it is undefined, or with `taskAnyway` that of one
   * that is FINISHED. Throws as `updateNow`.
   */
  update(scope: Scope, id: string, change: UpdateRouter, options: TaskAnyway): Promise<string | undefined>;
  /**
   * Returns the task that deletes the router with its interfaces.
   * @throws NotFoundError, ConflictError while floating IPs need it or a task holds it
   */
  delete(scope: Scope, id: string): Promise<string>;
  /** @throws NotFoundError, InvalidError, ConflictError while a task holds one of them or the address is taken */
  attach(scope: Scope, id: string, request: AttachSubnet): Promise<void>;
  /** @throws NotFoundError, InvalidError, ConflictError while a task holds it, or routes or floating IPs need it there */
  detach(scope: Scope, id: string, subnetId: string): Promise<void>;
}

export function createRouters(deps: { database: Database; clock: Clock; tasks: Tasks }): Routers {
  const { database, clock, tasks } = deps;
  const get = (scope: Scope, id: string) =>
    foundById('Router', id, () => store.findRouter(database.sql, scope, id));

  return {
    async create(scope, request) {
      const { routes, problems } = routesFrom(request.routes ?? []);
      if (problems.length > 0) throw new InvalidError(problems);
      const [id, taskId] = [randomUUID(), newTaskId()];
      const now = clock.now();
      const asked = (request.interfaces ?? []).map(({ subnet_id }) => subnet_id.toLowerCase());
      return database.accept(scope.principal, async (tx) => {
        const wish = request.external_gateway_info ?? undefined;
        const gateway = wish && (await wantedGateway(tx, scope, wish));
        const subnets = await freeSubnets(tx, scope, asked, (index) => `interfaces.${index}.subnet_id`);
        scope.principal.writes?.about({ type: 'router', id, name: request.name });
        await store.insertRouter(tx, {
          id,
          name: request.name,
          routes: JSON.stringify(routes),
          gateway_network_id: gateway?.networkId ?? null,
          enable_snat: gateway?.enableSnat ?? false,
          network_id: null,
          ...newResource(scope, taskId, now),
        });
        let router = await store.readRouter(tx, id);
        for (const [index, subnet] of subnets.entries()) {
          const field = `interfaces.${index}.subnet_id`;
          router = await attach(tx, scope, router, { subnet, field, now });
        }
        await takeOutside(tx, scope, router);
        router = await store.readRouter(tx, id);
        refuseUnreachable(router);
        await tasks.begin(tx, scope, {
          id: taskId,
          task: CREATE_ROUTER,
          data: request,
          input: { routerId: id, ...quotaOwner(scope) },
          wants: [make('router', id, routerSpec(router))],
        });
        await rerouted(tx, scope, asked);
        await takeQuota(tx, scope, 'router_count');
        return taskId;
      });
    },

    list: (scope, query) => store.listRouters(database.sql, scope, query),

    get,

    metrics: async (scope, id, question) => idleInterfaces(await get(scope, id), question, clock.now()),

    updateNow: (scope, id, change) =>
      database.accept(scope.principal, async (tx) => {
        const { former, router } = await changed(tx, scope, id, withoutNulls(change));
        if (former === undefined) return;
        if (router.gateway_network_id === null) await releaseOutside(tx, router.id);
        await tasks.want(tx, scope, [asInRow(router)]);
        await rerouted(tx, scope, subnetsOf(router));
      }),

    update: (scope, id, change, options) =>
      database.accept(scope.principal, async (tx) => {
        const { former, router } = await changed(tx, scope, id, change);
        const data = { router_id: router.id, ...change };
        if (former === undefined) {
          return tasks.unchanged(tx, scope, { type: UPDATE_ROUTER.type, data }, options);
        }
        const taskId = newTaskId();
        await store.changeRouter(tx, router.id, { task_id: taskId });
        await tasks.begin(tx, scope, {
          id: taskId,
          task: UPDATE_ROUTER,
          data,
          input: { routerId: router.id, former },
          wants: [asInRow(router)],
        });
        await rerouted(tx, scope, subnetsOf(router));
        return taskId;
      }),

    delete: (scope, id) =>
      database.accept(scope.principal, async (tx) => {
        const router = await lockAlsoHeld(tx, scope, id);
        const again = await tasks.removeAgain(tx, scope, router.task_id, DELETE_ROUTER);
        if (again !== undefined) return again;
        refuseHeld(`Router ${router.name}`, router);
        const subnetIds = subnetsOf(router);
        if (router.gateway_network_id !== null) {
          await refuseStranded(tx, router, subnetIds, { detached: true });
        }
        const taskId = deletionId(scope);
        await store.changeRouter(tx, router.id, { task_id: taskId });
        await tasks.begin(tx, scope, {
          id: taskId,
          task: DELETE_ROUTER,
          data: { router_id: router.id },
          input: { routerId: router.id, ...quotaOwner(scope) },
          wants: [remove('router', router.id)],
        });
        await rerouted(tx, scope, subnetIds);
        return taskId;
      }),

    attach: (scope, id, request) =>
      database.accept(scope.principal, async (tx) => {
        // Subnets are locked before routers, but a missing router is said first.
        await foundById('Router', id, () => store.findRouter(tx.sql, scope, id));
        const [subnet] = await freeSubnets(tx, scope, [request.subnet_id.toLowerCase()], () => 'subnet_id');
        const router = await lockFree(tx, scope, id);
        if (!subnet) throw new TypeError('an unknown subnet was refused');
        const now = clock.now();
        const { ip_address: address } = request;
        const where = { subnet, field: 'subnet_id', now, ...(address !== undefined && { address }) };
        const attached = await attach(tx, scope, router, where);
        await store.changeRouter(tx, router.id, { updated_at: now });
        await tasks.want(tx, scope, [asInRow(attached)]);
        await rerouted(tx, scope, [subnet.id]);
      }),

    detach: (scope, id, given) =>
      database.accept(scope.principal, async (tx) => {
        const subnetId = given.toLowerCase();
        await store.lockSubnets(tx, scope, [subnetId]);
        const router = await lockFree(tx, scope, id);
        if (!router.interfaces.some((one) => one.subnet_id === subnetId)) {
          throw new InvalidError({ subnet_id: [`Router ${router.id} is not attached to subnet ${given}.`] });
        }
        const left = await detach(tx, router, [subnetId]);
        await store.changeRouter(tx, router.id, { updated_at: clock.now() });
        await tasks.want(tx, scope, [asInRow(left)]);
        await rerouted(tx, scope, [subnetId]);
      }),
  };

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
    const written = { ...next, routes: JSON.stringify(next.routes), updated_at: clock.now() };
    await store.changeRouter(tx, router.id, written);
    // A region has one external network, so that a router that leads out already keeps its address.
    if (gateway_network_id === null) await takeOutside(tx, scope, { ...router, ...next });
    const after = await store.readRouter(tx, router.id);
    refuseUnreachable(after);
    return { former, router: after };
  }

  /** Floating IPs in the subnets may have got another way out. */
  async function rerouted(tx: Transaction, scope: Scope, subnetIds: readonly string[]): Promise<void> {
    const floatingIps = await store.lockFloatingIpsIn(tx, subnetIds);
    await tasks.want(tx, scope, await floatingIpsAsInRows(tx, floatingIps));
  }
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
async function freeSubnets(
  tx: Transaction,
  scope: Scope,
  ids: readonly string[],
  fieldOf: (index: number) => string,
): Promise<store.SubnetRow[]> {
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
  scope.principal.writes?.about({ type: 'router', id: router.id, name: router.name });
  return router;
}

const subnetsOf = ({ interfaces }: Router): string[] => interfaces.map((one) => one.subnet_id);
