import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../../lib/errors.ts';
import { VOLUME_TYPES, type VolumeType } from '../../../../lib/volume-types.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import * as nodes from '../../../compute/instances/nodes/in-transaction.ts';
import { type QuotaAmounts, refuseExceeded } from '../../../ground/quotas/service.ts';
import type { AddressSource } from '../../../network/addresses/in-transaction.ts';
import { defaultNetworkId } from '../../../network/networks/defaults/in-transaction.ts';
import { replaceGroupsOfPool } from '../../../network/ports/groups/in-transaction.ts';
import * as workerGroups from '../../../network/security-groups/worker-groups/in-transaction.ts';
import { checkNamed } from '../../../storage/volumes/of-instances/in-transaction.ts';
import type { NewCluster, NewPool } from '../store.ts';

/* The nodes of pools, for requests that change their number. The caller holds the lock on the cluster. */

/** The fields of a cluster that decide where its nodes are and who may log in to them. */
type Home = Pick<NewCluster, 'id' | 'name' | 'keypair' | 'fixed_network' | 'fixed_subnet' | 'is_ipv6'>;
type Kind = Pick<
  NewPool,
  'id' | 'name' | 'flavor_id' | 'boot_volume_size' | 'boot_volume_type' | 'is_public_ipv4' | 'security_group_ids'
>;
interface MoreNodes {
  pool: Kind;
  amount: number;
}

/**
 * Adds nodes, held by the task. Returns the quotas that they need, which the caller takes at the end.
 * @throws QuotaExceededError for quotas that are exceeded already now, ConflictError when there are no addresses left
 */
export async function addNodes(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  cluster: Home,
  more: readonly MoreNodes[],
  taskId: string,
): Promise<QuotaAmounts> {
  const wanted = await wantedNodes(on, tx, scope, cluster, more);
  const quotas = nodes.quotasOf(wanted);
  await refuseExceeded(tx, scope, quotas);
  await nodes.add(tx, scope, wanted, taskId);
  return quotas;
}

/** Lets the task replace a node. Returns the quotas of the new node. @throws as `addNodes`, except for quotas */
export async function replaceNode(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  cluster: Home,
  { id, pool }: { id: string; pool: Kind },
  taskId: string,
): Promise<QuotaAmounts> {
  const wanted = await wantedNodes(on, tx, scope, cluster, [{ pool, amount: 1 }]);
  await nodes.add(tx, scope, wanted, taskId);
  await nodes.doom(tx, [id], taskId);
  return nodes.quotasOf(wanted);
}

/** Checks that the named volumes are disks of the nodes, for a deletion of all. @throws InvalidError, ConflictError */
export async function checkNamedDisks(
  tx: Transaction,
  scope: Scope,
  pools: readonly Pick<Kind, 'id'>[],
  volumeIds: readonly string[],
): Promise<void> {
  if (volumeIds.length === 0) return;
  // The cluster is locked, which keeps their disks, and tasks lock it after these.
  await checkNamed(tx, scope, await nodesOf(tx, pools), volumeIds, { lock: false });
}

/** Lets the task remove all nodes, and these volumes even with snapshots. @throws ConflictError */
export async function removeAllNodes(
  tx: Transaction,
  pools: readonly Pick<Kind, 'id'>[],
  taskId: string,
  volumeIds: readonly string[] = [],
): Promise<void> {
  const ids = await nodesOf(tx, pools);
  await nodes.doom(tx, ids, taskId, volumeIds);
}

/**
 * Resizes a pool to the wanted number of nodes, removing the newest first. Returns the quotas that it needs.
 * @throws as `addNodes`
 */
export async function resizePoolNodes(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  cluster: Home,
  { pool, amount }: MoreNodes,
  taskId: string,
): Promise<QuotaAmounts> {
  const ids = await nodes.nodeIdsOf(tx, [pool.id]);
  if (ids.length > amount) {
    await nodes.doom(tx, ids.slice(0, ids.length - amount), taskId);
  }
  if (ids.length >= amount) return {};
  return addNodes(on, tx, scope, cluster, [{ pool, amount: amount - ids.length }], taskId);
}

/** Gives the nodes the security groups of their pool. */
export async function setGroupsOfPool(
  tx: Transaction,
  clusterId: string,
  pool: Pick<Kind, 'id' | 'security_group_ids'>,
): Promise<void> {
  await replaceGroupsOfPool(tx, pool.id, await groupsOf(tx, clusterId, pool));
}

async function wantedNodes(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  cluster: Home,
  more: readonly MoreNodes[],
): Promise<nodes.WantedNodes[]> {
  const inside = await homeOf(tx, scope, cluster);
  const own = await workerGroups.groupOfCluster(tx, cluster.id);
  return more.map(({ pool, amount }) => {
    const flavor = on.catalog.flavor(scope.regionId, pool.flavor_id);
    if (!flavor) {
      throw new ConflictError(
        `Pool ${pool.name} can't get new nodes: its flavor ${pool.flavor_id} is no longer offered`,
      );
    }
    return {
      poolId: pool.id,
      amount,
      namePrefix: `${cluster.name}-${pool.name}`,
      flavor,
      sshKeyName: cluster.keypair,
      bootDisk: bootDiskOf(pool),
      interfaces: [[inside], outsideOf(pool, cluster)].filter((addresses) => addresses.length > 0),
      groupIds: withOwn(own, pool.security_group_ids),
    };
  });
}

async function groupsOf(tx: Transaction, clusterId: string, pool: Pick<Kind, 'security_group_ids'>) {
  return withOwn(await workerGroups.groupOfCluster(tx, clusterId), pool.security_group_ids);
}

function nodesOf(tx: Transaction, pools: readonly Pick<Kind, 'id'>[]): Promise<string[]> {
  return nodes.nodeIdsOf(
    tx,
    pools.map(({ id }) => id),
  );
}

const withOwn = (own: string | undefined, ids: readonly string[]) => [
  ...new Set(own === undefined ? ids : [own, ...ids]),
];

async function homeOf(
  tx: Transaction,
  scope: Scope,
  { fixed_network: networkId, fixed_subnet: subnetId }: Home,
): Promise<AddressSource> {
  if (subnetId) return { kind: 'subnet', subnetId };
  const id = networkId ? networkId : await defaultNetworkId(tx, scope);
  if (id === undefined) throw new ConflictError('The project has no default network for the nodes');
  return { kind: 'any-subnet', networkId: id, family: 'IPv4' };
}

/** Returns the public addresses of a node, all on one interface. */
function outsideOf({ is_public_ipv4 }: Kind, { is_ipv6 }: Home): AddressSource[] {
  const families = [...(is_public_ipv4 ? ['IPv4' as const] : []), ...(is_ipv6 ? ['IPv6' as const] : [])];
  return families.map((family) => ({ kind: 'external', family }));
}

/** Returns the disk that the pool's nodes boot from; null for bare metal. */
export function bootDiskOf({
  boot_volume_size: sizeGib,
  boot_volume_type: type,
}: Pick<Kind, 'boot_volume_size' | 'boot_volume_type'>): nodes.WantedNodes['bootDisk'] {
  const volumeType = VOLUME_TYPES.find((known): known is VolumeType => known === type);
  return sizeGib === null || volumeType === undefined ? null : { sizeGib, volumeType };
}

/** Turns an InvalidError into a conflict: the body names no network, so a missing one isn't the body's fault. */
export function inWordsOfCluster(error: unknown): never {
  if (!(error instanceof InvalidError)) throw error;
  throw new ConflictError(`The nodes can't get an address: ${Object.values(error.fields).flat().join(' ')}`);
}

/** Does the same for a creation, whose body may name the network. */
export function inFieldsOfCreation({ fixed_subnet: subnetId }: Pick<Home, 'fixed_subnet'>) {
  return (error: unknown): never => {
    if (!(error instanceof InvalidError)) throw error;
    const field = subnetId ? 'fixed_subnet' : 'fixed_network';
    throw new InvalidError({ [field]: Object.values(error.fields).flat() });
  };
}
