import type { ClusterPoolSpec } from '../../../backends/contract/specs.ts';
import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import { change, make, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import type { ClusterConfiguration } from '../../../db/json-columns.ts';
import type { Secrets } from '../../../secrets/secrets.ts';
import * as nodes from '../../compute/instances/nodes/in-transaction.ts';
import * as placementGroups from '../../compute/placement-groups/service.ts';
import * as sshKeys from '../../compute/ssh-keys/service.ts';
import { keepTopicOf } from '../../ground/logging/service.ts';
import { type QuotaAmounts, type QuotaOwner, releaseQuotas } from '../../ground/quotas/service.ts';
import * as workerGroups from '../../network/security-groups/worker-groups/in-transaction.ts';
import { keepCredentials } from './credentials/store.ts';
import { bootDiskOf } from './nodes/pool-nodes.ts';
import * as store from './store.ts';
import { type ClusterRow, findLogging, type NewPool } from './store.ts';

/** Makes sure that the topic for the cluster's logs exists, if the cluster logs at all. */
export async function keepLogTopic(tx: Transaction, clusterId: string): Promise<void> {
  const found = await findLogging(tx, clusterId);
  if (found) await keepTopicOf(tx, found, found.logging);
}

interface ClusterInput {
  clusterId: string;
}
export interface OwnedClusterInput extends ClusterInput, QuotaOwner {}
interface UpgradeInput extends ClusterInput {
  /** With the leading `v`. */
  version: string;
}

// All deadlines are shorter than the two hours that official clients wait.
export const CREATE_CLUSTER = taskType<OwnedClusterInput>('create_k8s_cluster_v2', 60);
export const UPDATE_CLUSTER = taskType<ClusterInput>('update_k8s_cluster_v2', 30);
export const UPGRADE_CLUSTER = taskType<UpgradeInput>('upgrade_k8s_cluster_v2', 60);
export const DELETE_CLUSTER = taskType<OwnedClusterInput>('delete_k8s_cluster_v2', 60);

/** How tasks on clusters end. The task holds the cluster until then. */
export function clusterTasks({ secrets }: { secrets: Secrets }): TaskEnd[] {
  const create: TaskEnd<OwnedClusterInput> = {
    ...CREATE_CLUSTER,
    async complete(tx, task, { clusterId }, seen) {
      await nodes.finish(tx, task.id);
      await keepCredentials(tx.sql, secrets, clusterId, seen('cluster', clusterId));
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
      await keepLogTopic(tx, clusterId);
      return { k8s_clusters: [clusterId] };
    },
    async abandon(tx, task, input) {
      const freed = await nodes.takeBack(tx, task.id);
      await removeCluster(tx, task, input, freed);
    },
  };

  const update: TaskEnd<ClusterInput> = {
    ...UPDATE_CLUSTER,
    async complete(tx, task, { clusterId }) {
      await store.adoptNextConfiguration(tx, clusterId);
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
      await keepLogTopic(tx, clusterId);
    },
    async abandon(tx, task, { clusterId }) {
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
    },
  };

  // After a failed upgrade, the former version is wanted again, which means "no further": see `ClusterSpec`.
  const upgrade: TaskEnd<UpgradeInput> = {
    ...UPGRADE_CLUSTER,
    async complete(tx, task, { clusterId, version }) {
      await store.releaseCluster(tx, { clusterId, taskId: task.id }, version);
    },
    async abandon(tx, task, { clusterId }) {
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
    },
  };

  const remove: TaskEnd<OwnedClusterInput> = {
    ...DELETE_CLUSTER,
    removes: true,
    async complete(tx, task, input) {
      const freed = await nodes.finish(tx, task.id);
      await removeCluster(tx, task, input, freed);
    },
  };

  return [create, update, upgrade, remove];
}

/** Releases the quotas of nodes that are gone. */
export async function giveBack(tx: Transaction, freed: nodes.FreedQuotas | undefined, also: QuotaAmounts = {}) {
  if (freed) releaseQuotas(tx, freed.owner, { ...freed.amounts, ...also });
}

/**
 * Deletes a cluster whose nodes are gone, with their security group, and releases all quotas at once. Who holds some
 * of an account's quotas and then locks others could deadlock with a creation.
 */
export async function removeCluster(
  tx: Transaction,
  task: { id: string },
  { clusterId, ...owner }: OwnedClusterInput,
  freed: nodes.FreedQuotas | undefined,
): Promise<void> {
  const servergroup_count = await placementGroups.countOf(tx, { clusterId });
  const groupId = await workerGroups.groupOfCluster(tx, clusterId);
  if (!(await store.deleteCluster(tx, { clusterId, taskId: task.id }))) return giveBack(tx, freed);
  const groupGone = groupId !== undefined && (await workerGroups.remove(tx, groupId));
  const own = { cluster_count: 1, firewall_count: groupGone ? 1 : 0, servergroup_count };
  releaseQuotas(tx, owner, { ...freed?.amounts, ...own });
}

/** The wanted cluster, apart from its nodes, which are read from their rows. */
type Described = Pick<
  ClusterRow,
  | 'id'
  | 'name'
  | 'version'
  | 'keypair'
  | 'fixed_network'
  | 'fixed_subnet'
  | 'is_ipv6'
  | 'pods_ip_pool'
  | 'pods_ipv6_pool'
  | 'services_ip_pool'
  | 'services_ipv6_pool'
  | 'vast_nfs_enabled'
> & { configuration: ClusterConfiguration; pools: readonly NewPool[] };

/* What is wanted of clusters. Nodes that are being removed are no longer wanted. */

export async function clusterMade(tx: Transaction, place: { projectId: number }, cluster: Described): Promise<Wanted> {
  const { configuration } = cluster;
  const slurmIds = slurmKeyIds(configuration);
  const keys = await sshKeys.keep(tx, place, { names: [cluster.keypair], ids: slurmIds });
  const own = keys.find(({ name }) => name === cluster.keypair);
  return make('cluster', cluster.id, {
    name: cluster.name,
    version: cluster.version,
    ...(own && { publicKey: own.public_key }),
    network: {
      ...(cluster.fixed_network && { networkId: cluster.fixed_network }),
      ...(cluster.fixed_subnet && { subnetId: cluster.fixed_subnet }),
      ipv6: cluster.is_ipv6,
    },
    pods: rangesOf(cluster.pods_ip_pool, cluster.pods_ipv6_pool),
    services: rangesOf(cluster.services_ip_pool, cluster.services_ipv6_pool),
    vastShares: cluster.vast_nfs_enabled,
    configuration: withoutNulls(configuration),
    slurmPublicKeys: publicKeysOf(slurmIds, keys),
    pools: await poolsOf(tx, cluster),
  });
}

export async function clusterConfigured(
  tx: Transaction,
  place: { projectId: number },
  { id, configuration }: Pick<Described, 'id' | 'configuration'>,
): Promise<Wanted> {
  const slurmIds = slurmKeyIds(configuration);
  const keys = slurmIds.length === 0 ? [] : await sshKeys.keep(tx, place, { names: [], ids: slurmIds });
  return change('cluster', id, (former) => ({
    ...former,
    configuration: withoutNulls(configuration),
    slurmPublicKeys: publicKeysOf(slurmIds, keys, former.slurmPublicKeys),
  }));
}

/** Changes the pools, with the nodes that are in their rows. */
export async function clusterPooled(tx: Transaction, cluster: Pick<Described, 'id' | 'pools'>): Promise<Wanted> {
  const pools = await poolsOf(tx, cluster);
  return change('cluster', cluster.id, (former) => ({ ...former, pools }));
}

export function clusterUpgraded({ id, version }: Pick<Described, 'id' | 'version'>): Wanted {
  return change('cluster', id, (former) => ({ ...former, version }));
}

async function poolsOf(tx: Transaction, { id, pools }: Pick<Described, 'id' | 'pools'>) {
  const groupId = await workerGroups.groupOfCluster(tx, id);
  const nodesOf = await nodes.nodeSpecs(
    tx,
    pools.map((pool) => pool.id),
  );
  return Object.fromEntries(
    pools.map((pool) => [pool.name, { ...poolSpec(pool, groupId), nodes: nodesOf.get(pool.id) ?? {} }]),
  );
}

function slurmKeyIds({ add_ons }: ClusterConfiguration): string[] {
  return add_ons.slurm.ssh_key_ids?.map((id) => id.toLowerCase()) ?? [];
}

/** Returns the public keys. A key that its owner has deleted since stays on the cluster. */
function publicKeysOf(
  ids: readonly string[],
  found: readonly { id: string; public_key: string }[],
  former: Record<string, string> = {},
): Record<string, string> {
  const known = { ...former, ...Object.fromEntries(found.map((key) => [key.id, key.public_key])) };
  return Object.fromEntries(ids.flatMap((id) => (known[id] === undefined ? [] : [[id, known[id]]])));
}

function poolSpec(pool: NewPool, workerGroupId: string | undefined): Omit<ClusterPoolSpec, 'nodes'> {
  const disk = bootDiskOf(pool);
  const groupIds = [...(workerGroupId === undefined ? [] : [workerGroupId]), ...pool.security_group_ids];
  return {
    id: pool.id,
    flavorId: pool.flavor_id,
    ...(disk && { bootVolume: { sizeGib: disk.sizeGib, type: disk.volumeType } }),
    ...(pool.servergroup_policy !== null && { serverGroupPolicy: pool.servergroup_policy }),
    publicAddresses: pool.is_public_ipv4,
    minNodes: pool.min_node_count,
    maxNodes: pool.max_node_count,
    autoHealing: pool.auto_healing_enabled,
    labels: pool.labels,
    taints: pool.taints,
    crioConfig: pool.crio_config,
    kubeletConfig: pool.kubelet_config,
    securityGroups: Object.fromEntries(groupIds.map((id) => [id, true])),
  };
}

function rangesOf(ipv4: string, ipv6: string | null): { ipv4: string; ipv6?: string } {
  return { ipv4, ...(ipv6 !== null && { ipv6 }) };
}

/** Removes nulls at every depth: a merge patch that takes back a change can't tell null from absent. */
function withoutNulls(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value, (_name, member) => member ?? undefined));
}
