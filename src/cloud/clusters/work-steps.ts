import type { Transaction } from '../../db/database.ts';
import type { TaskRun } from '../../workflows/task-handler.ts';
import type { FreedQuotas } from '../instances/nodes/service.ts';
import { releaseQuotas } from '../quotas/quotas.ts';
import { workerGroups } from '../security-groups/worker-group.ts';
import type { ClusterBackend, Pace, PoolOfNodes } from './backend.ts';
import type { ClusterConfiguration, GroupName } from './configuration/configuration.ts';
import * as store from './store.ts';

/** What the tasks on clusters and on their pools have in common. */

export const MINUTE_MS = 60_000;

/**
 * The order in which groups are applied: the API server's own restart first, then the network that everything
 * runs over, then what runs in the cluster; Slurm last, since it needs all of it.
 */
export const APPLY_ORDER: readonly GroupName[] = [
  'authentication',
  'cni',
  'autoscaler_config',
  'logging',
  'ddos_profile',
  'add_ons',
];

export interface Owner {
  clientId: number;
  regionId: number;
}

export const ownerOf = (scope: { clientId: number; region: { id: number } }): Owner => ({
  clientId: scope.clientId,
  regionId: scope.region.id,
});

/** What a cluster is before a change, for the case that an earlier change left parts of itself behind. */
export interface Standing {
  configuration: ClusterConfiguration;
  pools: PoolOfNodes[];
}

export const standingOf = (cluster: store.ClusterRow): Standing => ({
  configuration: cluster.configuration,
  pools: cluster.pools.map(nodesOf),
});

export const nodesOf = (pool: store.NewPool & { revision?: number }): PoolOfNodes => ({
  name: pool.name,
  flavorId: pool.flavor_id,
  nodeCount: pool.node_count,
  settings: {
    revision: pool.revision ?? 0,
    minNodeCount: pool.min_node_count,
    maxNodeCount: pool.max_node_count,
    autoHealing: pool.auto_healing_enabled,
    labels: pool.labels,
    taints: pool.taints,
    crioConfig: pool.crio_config,
    kubeletConfig: pool.kubelet_config,
    securityGroupIds: pool.security_group_ids,
  },
});

/** One piece of the backend's work, and the time until the next may begin. */
export async function carryOut<Result extends Pace>(
  run: TaskRun,
  step: string,
  operation: (key: string) => Promise<Result>,
): Promise<Result> {
  const result = await run.step(step, () => operation(`${run.taskId}:${step}`));
  await run.sleep(result.settlesInMs);
  return result;
}

/** Opens a change of a running cluster, and first puts right what an earlier one that was cut off left behind. */
export async function openChange(
  run: TaskRun,
  backend: ClusterBackend,
  clusterId: string,
  { configuration, pools }: Standing,
): Promise<void> {
  const { unfinished } = await carryOut(run, 'begin change', (key) =>
    backend.beginChange(key, clusterId, pools),
  );
  if (!unfinished) return;
  await carryOut(run, 'keep pools', (key) => backend.keepPools(key, clusterId, pools));
  for (const group of APPLY_ORDER) {
    await carryOut(run, `apply ${group}`, (key) => backend.apply(key, clusterId, group, configuration));
  }
}

/** The task's reader is told what went wrong first; what went wrong while clearing up is in the server's log. */
export async function failAfter(error: unknown, clearUp: () => Promise<void>): Promise<never> {
  await clearUp().catch(() => {});
  throw error;
}

/** Takes a cluster down, its pools first. */
export async function tearDown(
  run: TaskRun,
  backend: ClusterBackend,
  clusterId: string,
  poolNames: string[],
): Promise<void> {
  for (const name of poolNames) {
    await carryOut(run, `delete pool ${name}`, (key) => backend.deletePool(key, clusterId, name));
  }
  await carryOut(run, 'delete control plane', (key) => backend.deleteControlPlane(key, clusterId));
}

/** Gives back what nodes had that are gone. */
export async function giveBack(tx: Transaction, freed: FreedQuotas | undefined): Promise<void> {
  if (freed) await releaseQuotas(tx, freed.owner, freed.amounts);
}

/**
 * Removes a cluster whose nodes are gone, with the security group that they were in, and gives back what all had. That
 * in one go: who holds some of an account's quotas and then wants others waits in a circle with a creation.
 */
export async function removeCluster(
  tx: Transaction,
  held: { clusterId: string; taskId: string },
  owner: Owner,
  freed: FreedQuotas | undefined,
): Promise<void> {
  const groupId = await workerGroups.of(tx, held.clusterId);
  if (!(await store.deleteCluster(tx, held))) return giveBack(tx, freed);
  const groupGone = groupId !== undefined && (await workerGroups.remove(tx, groupId));
  const own = { cluster_count: 1, firewall_count: groupGone ? 1 : 0 };
  await releaseQuotas(tx, owner, { ...freed?.amounts, ...own });
}
