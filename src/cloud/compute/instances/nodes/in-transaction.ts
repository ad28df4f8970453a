import { randomUUID } from 'node:crypto';
import { put, type Wanted, want } from '../../../../convergence/wants.ts';
import type { Transaction } from '../../../../db/database.ts';
import type { Flavor, VolumeTypeName } from '../../../ground/catalog/service.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import type { QuotaAmounts, QuotaOwner } from '../../../ground/quotas/service.ts';
import type { AddressSource } from '../../../network/addresses/in-transaction.ts';
import * as addresses from '../../../network/addresses/in-transaction.ts';
import * as portGroups from '../../../network/ports/groups/in-transaction.ts';
import * as ports from '../../../network/ports/in-transaction.ts';
import * as volumes from '../../../storage/volumes/of-instances/in-transaction.ts';
import { keptFlavor } from '../creation/flavor-choice.ts';
import * as store from './store.ts';

const NAME_PART_LENGTH = 8;

/** New nodes for a pool. */
export interface WantedNodes {
  poolId: string;
  amount: number;
  /** The name of a node is this prefix, a hyphen and a part of its ID. */
  namePrefix: string;
  flavor: Flavor;
  sshKeyName: string;
  /** Null for bare metal, which has its own disks. */
  bootDisk: { sizeGib: number; volumeType: VolumeTypeName } | null;
  /** The address sources of each interface, in order. */
  interfaces: AddressSource[][];
  groupIds: string[];
}

/** Quotas that nodes had. The caller releases them at the end, together with everything else that is gone. */
export interface FreedQuotas {
  owner: QuotaOwner;
  amounts: QuotaAmounts;
}

/*
 * The nodes of clusters' pools, which are instances. A task of their cluster creates and removes them; the task
 * decides which. Every function runs the same few statements for any number of nodes.
 */

export { replaceGroupsOfPool as setGroups } from '../../../network/ports/groups/in-transaction.ts';
export { checkNamed as checkNamedDisks } from '../../../storage/volumes/of-instances/in-transaction.ts';
export { nodeIdsOf as idsOf } from './store.ts';
export { nodeSpecs as specsOf } from './wanted.ts';

/**
 * Inserts nodes with ports, addresses and disks, held by the task. The caller takes the quotas.
 * @throws InvalidError for a missing network, ConflictError when no addresses are left
 */
export async function add(
  tx: Transaction,
  scope: Scope,
  wanted: readonly WantedNodes[],
  taskId: string,
): Promise<void> {
  const nodes = wanted.flatMap((pool) => Array.from({ length: pool.amount }, () => newNode(pool)));
  const [first] = nodes;
  if (!first) return;
  const interfaces = nodes.flatMap((node) =>
    node.pool.interfaces.map((sources, position) => ({ node, sources, position, portId: randomUUID() })),
  );
  const wishes = interfaces.flatMap(({ portId, sources }) =>
    sources.map((from) => ({ holder: { port: portId }, field: 'nodes', from })),
  );
  const taken = await addresses.take(tx, scope, wishes);
  const flavors = new Map(wanted.map(({ poolId, flavor }) => [poolId, keptFlavor(flavor)]));
  const { sshKeyName } = first.pool;
  await store.insertNodes(tx, scope, nodes, flavors, { sshKeyName, taskId, now: tx.now });
  const networks = new Map(taken.map((one) => ['port' in one.holder ? one.holder.port : '', one.networkId]));
  const placed = interfaces.flatMap(({ portId, node, position }) => {
    const networkId = networks.get(portId);
    return networkId === undefined
      ? []
      : [{ id: portId, networkId, interfaceName: null, instanceId: node.id, position }];
  });
  await ports.addToMany(tx, scope, placed, tx.now);
  await portGroups.putOnPorts(
    tx,
    interfaces.flatMap(({ portId, node }) => node.pool.groupIds.map((groupId) => ({ portId, groupId }))),
  );
  const disks = nodes.flatMap(({ id, name, pool: { bootDisk } }) =>
    bootDisk === null ? [] : [{ instanceId: id, name: `${name}-boot`, ...bootDisk }],
  );
  if (disks.length > 0) await volumes.attachBootDisks(tx, scope, disks, taskId);
}

/**
 * Lets the task remove nodes with their disks, except for disks with snapshots that aren't named.
 * @throws ConflictError while something works on a disk
 */
export async function doom(
  tx: Transaction,
  ids: readonly string[],
  taskId: string,
  namedVolumeIds: readonly string[] = [],
): Promise<void> {
  await store.lockNodes(tx, ids);
  await volumes.holdForRemoval(tx, ids, namedVolumeIds, taskId, tx.now);
  await store.markDoomed(tx, ids, taskId);
}

/** Completes the task: new nodes run, and doomed ones are removed with everything they had. */
export async function finish(tx: Transaction, taskId: string, now: Date): Promise<FreedQuotas | undefined> {
  const held = await store.lockHeldNodes(tx, taskId);
  await settle(
    tx,
    held.filter(({ task_state }) => task_state !== 'deleting'),
    now,
  );
  return remove(
    tx,
    held.filter(({ task_state }) => task_state === 'deleting'),
    now,
  );
}

/** Takes the task back: its new nodes are removed, and its doomed ones run. */
export async function takeBack(tx: Transaction, taskId: string, now: Date): Promise<FreedQuotas | undefined> {
  const held = await store.lockHeldNodes(tx, taskId);
  await settle(
    tx,
    held.filter((node) => node.creator_task_id !== taskId),
    now,
  );
  return remove(
    tx,
    held.filter((node) => node.creator_task_id === taskId),
    now,
  );
}

async function settle(tx: Transaction, nodes: store.HeldNode[], now: Date): Promise<void> {
  if (nodes.length === 0) return;
  const ids = nodes.map(({ id }) => id);
  await volumes.settle(tx, ids, now);
  await store.markRunning(tx, ids, now);
}

/** Locks rows in the same order as a creation, so that the two never wait for each other. */
async function remove(tx: Transaction, nodes: store.HeldNode[], now: Date): Promise<FreedQuotas | undefined> {
  const [first] = nodes;
  if (!first) return undefined;
  const ids = nodes.map(({ id }) => id);
  const portIds = await ports.removeOf(tx, ids);
  const doomed = await volumes.doomedWith(tx, ids);
  const left = await volumes.detach(tx, ids, doomed, now);
  await store.deleteNodes(tx, ids);
  await addresses.release(tx, portIds);
  // A task works on one cluster, which belongs to one account.
  const owner = { clientId: first.client_id, regionId: first.region_id };
  await want(tx, { ...owner, projectId: first.project_id }, left.map(asVolume));
  return { owner, amounts: { vm_count: ids.length, volume_count: doomed.length } };
}

/** Wants a disk as a volume. Until now, it was a part of its node. */
function asVolume({ id, name, size_gib, volume_type, tags }: volumes.VolumeLeft): Wanted {
  return put('volume', id, { name, sizeGib: size_gib, volumeType: volume_type, metadata: tags });
}

function newNode(pool: WantedNodes) {
  const id = randomUUID();
  return { id, name: `${pool.namePrefix}-${id.slice(0, NAME_PART_LENGTH)}`, poolId: pool.poolId, pool };
}

/** Returns the quotas that nodes need. */
export function quotasOf(pools: readonly { amount: number; bootDisk: unknown }[]): QuotaAmounts {
  const sum = (list: typeof pools) => list.reduce((total, { amount }) => total + amount, 0);
  return { vm_count: sum(pools), volume_count: sum(pools.filter(({ bootDisk }) => bootDisk !== null)) };
}
