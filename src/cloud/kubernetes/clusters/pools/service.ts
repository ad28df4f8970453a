import { isDeepStrictEqual } from 'node:util';
import { remove } from '../../../../convergence/wants.ts';
import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import { found, newTaskId } from '../../../../lib/ids.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import * as placementGroups from '../../../compute/placement-groups/service.ts';
import { quotaOwner, takeQuotas } from '../../../ground/quotas/service.ts';
import { waitingDeletion } from '../../../ground/tasks/behind/service.ts';
import { beginTask, deletionId, refuseDoomed, removeAgain } from '../../../ground/tasks/service.ts';
import * as workerGroups from '../../../network/security-groups/worker-groups/in-transaction.ts';
import * as poolNodes from '../nodes/pool-nodes.ts';
import * as rules from '../pools.ts';
import { MAX_POOLS, type PoolInput } from '../schema.ts';
import { lockFreeCluster, lockKnownCluster, poolOf, refuseHeld } from '../service.ts';
import { type ClusterRow, findCluster, holdCluster, insertPools, type PoolRow } from '../store.ts';
import { clusterPooled } from '../tasks.ts';
import { newPool, poolGroupProblems } from './new-pool.ts';
import type { UpdatePool } from './schema.ts';
import * as tasks from './tasks.ts';

/* Single pools of a running cluster. Every change throws ConflictError while a task holds the cluster. */

/** Checks possible pools. @throws InvalidError for pools that aren't available in the region */
export const requirePossibleClusterPool = (on: Platform, scope: Scope, pools: readonly rules.PossiblePool[]): void =>
  refuse(rules.possibleProblems(pools, rules.poolOffer(on.catalog, scope)));

/**
 * @throws NotFoundError, InvalidError with every fault of the body, ConflictError also for a name that exists,
 * QuotaExceededError
 */
export async function createClusterPool(on: Platform, scope: Scope, clusterName: string, request: PoolInput) {
  await requireCluster(on, scope, clusterName);
  refuse([
    ...rules.poolProblems(request, rules.poolOffer(on.catalog, scope)),
    ...(await groupProblems(on, scope, request.security_group_ids ?? [])),
  ]);
  const pool = newPool(request);
  return changing(on, scope, clusterName, async (tx, cluster) => {
    refuseOneMore(cluster, pool.name);
    tx.about({ ...pool, type: 'k8s_pool' });
    const doomed = { type: 'delete_k8s_cluster_v2', id: clusterName };
    await refuseDoomed(tx, scope, `Cluster ${clusterName}`, doomed);
    const taskId = newTaskId();
    const firstPosition = Math.max(...cluster.pools.map(({ position }) => position)) + 1;
    const to = { clusterId: cluster.id, createdAt: tx.now, firstPosition };
    await insertPools(tx, { ...to, pending: 'Provisioning' }, [pool]);
    await placementGroups.addForPools(tx, scope, cluster.name, [pool]);
    const more = [{ pool, amount: pool.node_count }];
    const quotas = await poolNodes.addNodes(on, tx, scope, cluster, more, taskId).catch(poolNodes.inWordsOfCluster);
    holdCluster(tx, cluster.id, { taskId, status: 'Provisioned' });
    await beginTask(on, tx, scope, {
      id: taskId,
      task: tasks.CREATE_POOL,
      data: { cluster_name: clusterName, ...request },
      input: { clusterId: cluster.id, poolId: pool.id },
      wants: [await clusterPooled(tx, { ...cluster, pools: [...cluster.pools, pool] })],
    });
    const servergroup_count = placementGroups.groupsFor([pool]);
    takeQuotas(tx, scope, { ...quotas, servergroup_count });
    return taskId;
  });
}

/** Changes a pool at once. @throws NotFoundError, InvalidError */
export async function updateClusterPool(
  on: Platform,
  scope: Scope,
  clusterName: string,
  name: string,
  request: UpdatePool,
): Promise<PoolRow> {
  poolOf(await requireCluster(on, scope, clusterName), name);
  refuse([...rules.settingsProblems(request), ...(await groupProblems(on, scope, request.security_group_ids ?? []))]);
  return changing(on, scope, clusterName, async (tx, cluster) => {
    const pool = poolOf(cluster, name);
    tx.about({ ...pool, type: 'k8s_pool' });
    const wanted = settingsOf(pool, request);
    refuse([...limitProblems(wanted, request), ...nodeCountProblems(pool, request)]);
    if (isDeepStrictEqual(wanted, settingsOf(pool, {}))) return pool;
    await tasks.changePool(tx, pool.id, wanted);
    await poolNodes.setGroupsOfPool(tx, cluster.id, { id: pool.id, ...wanted });
    const changed = { ...pool, ...wanted };
    const pools = cluster.pools.map((one) => (one.id === pool.id ? changed : one));
    await beginTask(on, tx, scope, {
      task: tasks.CONFIGURE_POOL,
      data: { cluster_name: clusterName, pool_name: name, ...request },
      input: {},
      wants: [await clusterPooled(tx, { ...cluster, pools })],
    });
    return changed;
  });
}

/** @throws NotFoundError, InvalidError for a number outside the pool's limits, QuotaExceededError */
export async function resizeClusterPool(
  on: Platform,
  scope: Scope,
  clusterName: string,
  name: string,
  nodeCount: number,
): Promise<string> {
  return changing(on, scope, clusterName, async (tx, cluster) => {
    const pool = poolOf(cluster, name);
    tx.about({ ...pool, type: 'k8s_pool' });
    const { min_node_count: min, max_node_count: max } = pool;
    if (nodeCount < min || nodeCount > max) {
      const message = `Must be from ${min} to ${max}, the min_node_count and max_node_count of pool ${name}. Change these first.`;
      throw new InvalidError([{ field: 'node_count', message }]);
    }
    const taskId = newTaskId();
    const wanted = { pool, amount: nodeCount };
    const quotas = await poolNodes
      .resizePoolNodes(on, tx, scope, cluster, wanted, taskId)
      .catch(poolNodes.inWordsOfCluster);
    holdCluster(tx, cluster.id, { taskId, status: 'Provisioned' });
    await beginTask(on, tx, scope, {
      id: taskId,
      task: tasks.RESIZE_POOL,
      data: { cluster_name: clusterName, pool_name: name, node_count: nodeCount },
      input: { clusterId: cluster.id, poolId: pool.id, nodeCount },
      wants: [await clusterPooled(tx, cluster)],
    });
    takeQuotas(tx, scope, quotas);
    return taskId;
  });
}

/**
 * Deletes the cluster with its last pool. @throws NotFoundError, ConflictError also for a pool that Slurm needs, and for the
 * one that is left of several that are being deleted
 */
export async function deleteClusterPool(on: Platform, scope: Scope, clusterName: string, name: string) {
  return on.database.accept(async (tx) => {
    const cluster = await lockKnownCluster(tx, scope, clusterName);
    const pool = poolOf(cluster, name);
    tx.about({ ...pool, type: 'k8s_pool' });
    if (pool.pending === 'Deleting') {
      const again = await removeAgain(on, tx, scope, cluster.task_id, tasks.DELETE_POOL);
      if (again !== undefined) return again;
    }
    const others = cluster.pools.filter(({ id }) => id !== pool.id);
    const last = others.length === 0;
    refuseLastLeft(scope, cluster, pool, others);
    refuseHeld(cluster);
    if (last) await workerGroups.refuseUsed(tx, cluster);
    else refuseSlurmsPool(cluster, pool);
    const taskId = deletionId(scope);
    await poolNodes.removeAllNodes(tx, [pool], taskId);
    await tasks.markPool(tx, pool.id, 'Deleting');
    holdCluster(tx, cluster.id, { taskId, status: last ? 'Deleting' : 'Provisioned' });
    return beginTask(on, tx, scope, {
      id: taskId,
      task: tasks.DELETE_POOL,
      data: { cluster_name: clusterName, pool_name: name, ...(last && { cluster_deleted: true }) },
      input: { clusterId: cluster.id, poolId: pool.id, last, ...quotaOwner(scope) },
      wants: [last ? remove('cluster', cluster.id) : await clusterPooled(tx, { ...cluster, pools: others })],
    });
  });
}

async function requireCluster(on: Platform, scope: Scope, name: string): Promise<ClusterRow> {
  return found('Cluster', name, await findCluster(on.database.sql, scope, name));
}

function changing<Result>(
  on: Platform,
  scope: Scope,
  clusterName: string,
  change: (tx: Transaction, cluster: ClusterRow) => Promise<Result>,
): Promise<Result> {
  return on.database.accept(async (tx) => change(tx, await lockFreeCluster(tx, scope, clusterName)));
}

function groupProblems(on: Platform, scope: Scope, ids: readonly string[]): Promise<FieldProblem[]> {
  return poolGroupProblems(on, scope, [{ path: '', ids }]);
}

function refuse(problems: FieldProblem[]): void {
  if (problems.length > 0) throw new InvalidError(problems);
}

function refuseOneMore({ name, pools }: ClusterRow, poolName: string): void {
  if (pools.some((pool) => pool.name === poolName)) {
    throw new ConflictError(`Cluster ${name} already has a pool named ${poolName}; choose another name`);
  }
  if (pools.length >= MAX_POOLS) {
    throw new ConflictError(`Cluster ${name} already has ${MAX_POOLS} pools, the maximum; delete one first`);
  }
}

/** The cluster goes with its last pool, which nobody asked for if the others go first. */
function refuseLastLeft({ taskId }: Scope, cluster: ClusterRow, { name }: PoolRow, others: readonly PoolRow[]): void {
  const leaves = others.length > 0 && others.every(({ pending }) => pending === 'Deleting');
  if (!leaves && (others.length > 0 || taskId === undefined)) return;
  throw new ConflictError(
    `Pool ${name} is the last one of cluster ${cluster.name} once the others are deleted; delete the cluster, or the pool again when they are gone`,
  );
}

/** Refuses to remove the last GPU pool under Slurm: Slurm's workers run on GPU nodes. */
function refuseSlurmsPool({ name, configuration, pools }: ClusterRow, { id, name: poolName }: PoolRow): void {
  if (!configuration.add_ons.slurm.enabled) return;
  if (rules.haveGpu(pools.filter((other) => other.id !== id))) return;
  throw new ConflictError(
    `Pool ${poolName} is the last GPU pool of cluster ${name}, and Slurm requires one; disable Slurm or add another GPU pool first`,
  );
}

/** Null and absent fields keep their values. */
function settingsOf(pool: PoolRow, request: UpdatePool): tasks.PoolSettings {
  return {
    min_node_count: request.min_node_count ?? pool.min_node_count,
    max_node_count: request.max_node_count ?? pool.max_node_count,
    auto_healing_enabled: request.auto_healing_enabled ?? pool.auto_healing_enabled,
    labels: request.labels ?? pool.labels,
    taints: request.taints ?? pool.taints,
    crio_config: request.crio_config ?? pool.crio_config,
    kubelet_config: request.kubelet_config ?? pool.kubelet_config,
    security_group_ids: request.security_group_ids?.map((id) => id.toLowerCase()) ?? pool.security_group_ids,
  };
}

/** Reports a wrong limit at the field that was sent. */
function limitProblems(
  { min_node_count: min, max_node_count: max }: tasks.PoolSettings,
  request: UpdatePool,
): FieldProblem[] {
  if (typeof request.max_node_count === 'number' || min <= max) return rules.sizeProblems({ min, max });
  const message = `Must be at most max_node_count of the pool, which is ${max}. To go higher, also send a larger max_node_count.`;
  return [{ field: 'min_node_count', message }];
}

function nodeCountProblems(pool: PoolRow, { node_count: wanted }: UpdatePool): FieldProblem[] {
  if (wanted === undefined || wanted === null || wanted === pool.node_count) return [];
  const message = `The pool has ${pool.node_count} nodes, which an update can't change. Leave the field out, and send a POST to /resize of the pool instead.`;
  return [{ field: 'node_count', message }];
}

export const clusterPoolDeletion = waitingDeletion('delete_k8s_cluster_pool_v2', deleteClusterPool, [
  'cluster_name',
  'pool_name',
]);
