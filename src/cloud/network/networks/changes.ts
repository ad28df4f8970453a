import { make, put, remove, type Wanted } from '../../../convergence/wants.ts';
import { newResource, type Transaction } from '../../../db/database.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { foundById, newId, newTaskId, refuseHeld } from '../../../lib/ids.ts';
import { tagsOf } from '../../../lib/legacy-metadata.ts';
import { patchedTags, sameTags } from '../../../lib/tags.ts';
import type { Platform, Scope } from '../../../platform.ts';
import type { TagHolder } from '../../ground/metadata/service.ts';
import { quotaOwner, takeQuotas } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import * as tasks from '../../ground/tasks/service.ts';
import { leaveNetwork, makeRouterOf } from '../routers/service.ts';
import { MTU } from './defaults/in-transaction.ts';
import { lockAlsoHeld, lockOwn, refuseUsed } from './locks.ts';
import * as rows from './network-rows.ts';
import type { CreateNetwork, UpdateNetwork } from './schema.ts';
import { findNetwork } from './store.ts';
import { CREATE_NETWORK, DELETE_NETWORK, type NetworkUpdate, networkSpec, UPDATE_NETWORK } from './tasks.ts';

/** Accepts a network. Returns the ID of the task that creates it. @throws InvalidError, QuotaExceededError */
export async function createNetwork(on: Platform, scope: Scope, request: CreateNetwork): Promise<string> {
  const tags = tagsOf(request);
  const type = request.type ?? 'vxlan';
  const [id, taskId] = [newId(), newTaskId()];
  await on.database.accept(async (tx) => {
    const segment = await rows.nextSegment(tx, scope.regionId, type);
    if (segment === undefined) {
      throw new ConflictError(`Region ${scope.region.display_name} has no free VLANs; use type vxlan`);
    }
    tx.about({ type: 'network', id, name: request.name });
    const spec = networkSpec({ name: request.name, type, mtu: MTU, tags });
    await rows.insertNetwork(tx, {
      id,
      name: request.name,
      type,
      mtu: MTU,
      external: false,
      shared: false,
      is_default: false,
      port_security_enabled: true,
      segmentation_id: segment,
      tags: JSON.stringify(tags),
      ready: false,
      platform_routed: false,
      ...newResource(scope, taskId, tx.now),
    });
    const router =
      (request.create_router ?? true) ? await makeRouterOf(tx, scope, { id, name: request.name }, taskId) : undefined;
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE_NETWORK,
      data: request,
      input: { networkId: id, ...(router && { routerId: router.id }), ...quotaOwner(scope) },
      wants: [make('network', id, spec), ...(router ? [router.wanted] : [])],
    });
    takeQuotas(tx, scope, { network_count: 1, ...(router && { router_count: 1 }) });
  });
  return taskId;
}

/** Changes the network now. @throws NotFoundError, ForbiddenError, InvalidError, ConflictError if a task holds it */
export const updateNetworkNow = (on: Platform, scope: Scope, id: string, change: UpdateNetwork): Promise<void> =>
  on.database.accept(async (tx) => {
    const found = await changeOf(tx, scope, id, change);
    if (!found) return;
    const { networkId, name, tags } = found.update;
    await rows.changeNetwork(tx, networkId, {
      name,
      tags: JSON.stringify(tags),
      updated_at: tx.now,
    });
    await tasks.wantChecked(on, tx, scope, [found.wanted]);
  });

/**
 * Returns the ID of the task that changes the network. If nothing changes, it is undefined, or with `taskAnyway` that of one
 * that is FINISHED. Throws as `updateNetworkNow`.
 */
export const updateNetwork = (
  on: Platform,
  scope: Scope,
  id: string,
  change: UpdateNetwork,
  options: tasks.TaskAnyway,
): Promise<string | undefined> =>
  on.database.accept(async (tx) => {
    const found = await changeOf(tx, scope, id, change);
    if (!found) {
      const data = { network_id: id.toLowerCase(), ...change };
      return tasks.unchangedTask(on, tx, scope, { type: UPDATE_NETWORK.type, data }, options);
    }
    const taskId = newTaskId();
    const { networkId } = found.update;
    await rows.changeNetwork(tx, networkId, { task_id: taskId });
    return tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: UPDATE_NETWORK,
      data: { network_id: networkId, ...change },
      input: found.update,
      wants: [found.wanted],
    });
  });

/**
 * Returns the ID of the task that deletes the network with its subnets and the router that was made with it.
 * @throws NotFoundError, ForbiddenError, ConflictError while the network is in use or a task holds it
 */
export const deleteNetwork = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const network = await lockAlsoHeld(tx, scope, id, NETWORK);
    const what = `Network ${network.name}`;
    const again = await tasks.removeAgain(on, tx, scope, network.task_id, DELETE_NETWORK);
    if (again !== undefined) return again;
    refuseHeld(what, network);
    if (network.is_default) {
      throw new ConflictError("The default network of a project can't be deleted");
    }
    const subnets = await rows.lockSubnetsOf(tx, network.id);
    for (const subnet of subnets) refuseHeld(`Subnet ${subnet.name} of network ${network.name}`, subnet);
    await refuseUsed(tx, scope, what, { networkId: network.id });
    const taskId = tasks.deletionId(scope);
    const subnetIds = subnets.map((subnet) => subnet.id);
    const routers = await leaveNetwork(tx, network.id, subnetIds, taskId);
    const { routerId } = routers;
    await rows.changeNetwork(tx, network.id, { ready: false, task_id: taskId });
    await rows.holdSubnetsOf(tx, network.id, taskId);
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_NETWORK,
      data: { network_id: network.id },
      input: { networkId: network.id, ...(routerId !== undefined && { routerId }), ...quotaOwner(scope) },
      wants: [
        ...routers.removed,
        remove('network', network.id),
        ...subnetIds.map((subnetId) => remove('subnet', subnetId)),
      ],
    });
    await tasks.wantChecked(on, tx, scope, routers.changed, { removes: true });
    return taskId;
  });

export const networkTags: TagHolder = {
  read: (on, scope, id) => foundById('Network', id, () => findNetwork(on.database.sql, scope, id)),
  async change(on, tx, scope, id, plan) {
    const network = await lockOwn(tx, scope, id, NETWORK);
    const tags = plan(network.tags);
    await rows.changeNetwork(tx, network.id, { tags: JSON.stringify(tags), updated_at: tx.now });
    await tasks.wantChecked(on, tx, scope, [put('network', network.id, networkSpec({ ...network, tags }))]);
  },
};

/** Returns what the network becomes; undefined when nothing changes. */
async function changeOf(
  tx: Transaction,
  scope: Scope,
  id: string,
  change: UpdateNetwork,
): Promise<{ update: NetworkUpdate; wanted: Wanted } | undefined> {
  const network = await lockOwn(tx, scope, id, NETWORK);
  const name = change.name ?? network.name;
  const tags = patchedTags(network.tags, change.tags);
  if (name === network.name && sameTags(tags, network.tags)) return undefined;
  return {
    update: { networkId: network.id, name, tags },
    wanted: put('network', network.id, networkSpec({ ...network, name, tags })),
  };
}

const NETWORK = { name: 'Network', type: 'network' as const, lock: rows.lockNetwork, find: findNetwork };

export const networkDeletion = waitingDeletion('delete_network', deleteNetwork, ['network_id']);
