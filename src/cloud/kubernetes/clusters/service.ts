import { remove } from '../../../convergence/wants.ts';
import { type Transaction, violates } from '../../../db/database.ts';
import * as errors from '../../../lib/errors.ts';
import { found, newId, newTaskId } from '../../../lib/ids.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';
import type { Platform, Scope } from '../../../platform.ts';
import * as placementGroups from '../../compute/placement-groups/service.ts';
import { quotaOwner, refuseExceeded, takeQuotas } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import * as tasks from '../../ground/tasks/service.ts';
import * as workerGroups from '../../network/security-groups/worker-groups/in-transaction.ts';
import { changedGroups, mergeConfiguration } from './configuration/merge.ts';
import { validateConfiguration } from './configuration/validate.ts';
import { acceptCluster } from './creation.ts';
import { addNodes, checkNamedDisks, inFieldsOfCreation, removeAllNodes } from './nodes/pool-nodes.ts';
import { DELETE_POOL } from './pools/tasks.ts';
import * as regionContext from './region-context.ts';
import type { ClusterUpdate, CreateCluster } from './schema.ts';
import * as store from './store.ts';
import { CREATE_CLUSTER, clusterConfigured, clusterMade, DELETE_CLUSTER, UPDATE_CLUSTER } from './tasks.ts';

/**
 * Locks the cluster for a change until the transaction ends, and returns it.
 * @throws NotFoundError, ConflictError while a task holds it
 */
export async function lockFreeCluster(tx: Transaction, scope: Scope, name: string): Promise<store.ClusterRow> {
  const cluster = await lockKnownCluster(tx, scope, name);
  refuseHeld(cluster);
  return cluster;
}

/** Locks the cluster even if a task holds it. @throws NotFoundError */
export async function lockKnownCluster(tx: Transaction, scope: Scope, name: string): Promise<store.ClusterRow> {
  const cluster = found('Cluster', name, await store.lockCluster(tx, scope, name));
  tx.about({ ...cluster, type: 'k8s_cluster' });
  return cluster;
}

/** @throws NotFoundError */
export function poolOf({ pools }: Pick<store.ClusterRow, 'pools'>, name: string): store.PoolRow {
  const pool = pools.find((item) => item.name === name);
  if (!pool) throw new errors.NotFoundError('Pool', name);
  return pool;
}

/**
 * What a held cluster will be is only known when its task has ended, so even a change that changes nothing has to wait.
 * @throws ConflictError
 */
export function refuseHeld({ name, status, task_id: taskId }: store.ClusterRow): void {
  if (taskId === null) return;
  const doing = status === 'Provisioned' ? 'being updated' : status === 'Deleting' ? 'being deleted' : 'being created';
  throw new errors.HeldError(
    `Cluster ${name} is ${doing} by task ${taskId}. Wait until the task has ended, then try again`,
    taskId,
  );
}

/** @throws NotFoundError */
export async function getCluster(on: Platform, scope: Scope, name: string): Promise<store.ClusterRow> {
  return found('Cluster', name, await store.findCluster(on.database.sql, scope, name));
}

export const listClusters = (on: Platform, scope: Scope, page: PageQuery): Promise<Page<store.ClusterRow>> =>
  store.listClusters(on.database.sql, scope, page);

/**
 * Accepts a new cluster and returns the task that creates it. The cluster can be read at once.
 * @throws InvalidError with every fault of the body, ConflictError for a name that exists, QuotaExceededError
 */
export async function createCluster(on: Platform, scope: Scope, request: CreateCluster): Promise<string> {
  const { pools, ...wanted } = await acceptCluster(on, scope, request);
  const id = newId();
  const taskId = newTaskId();
  const cluster: store.NewCluster = {
    id,
    project_id: scope.projectId,
    region_id: scope.regionId,
    ...wanted,
    status: 'Provisioning',
    creator_task_id: taskId,
    task_id: taskId,
    created_at: on.clock.now(),
  };
  try {
    await on.database.accept(async (tx) => {
      tx.about({ type: 'k8s_cluster', id, name: wanted.name });
      await regionContext.keepShare(tx, scope, wanted.configuration);
      const slurmKeyIds = wanted.configuration.add_ons.slurm.ssh_key_ids ?? [];
      await regionContext.keepKeys(tx, scope, { keypair: wanted.keypair, slurmKeyIds });
      await refuseExceeded(tx, scope, store.CLUSTER_QUOTAS);
      await store.insertCluster(tx, cluster, pools);
      await placementGroups.addForPools(tx, scope, cluster.name, pools);
      await workerGroups.make(tx, scope, cluster);
      const more = pools.map((pool) => ({ pool, amount: pool.node_count }));
      const nodeQuotas = await addNodes(on, tx, scope, cluster, more, taskId).catch(inFieldsOfCreation(cluster));
      await tasks.beginTask(on, tx, scope, {
        id: taskId,
        task: CREATE_CLUSTER,
        data: request,
        input: { clusterId: id, ...quotaOwner(scope) },
        wants: [await clusterMade(tx, scope, { ...wanted, id, pools })],
      });
      takeQuotas(tx, scope, {
        ...store.CLUSTER_QUOTAS,
        ...nodeQuotas,
        servergroup_count: placementGroups.groupsFor(pools),
      });
    });
  } catch (error) {
    if (violates(error, 'kubernetes_clusters_name')) throw nameTaken(wanted.name);
    throw error;
  }
  return taskId;
}

/**
 * Accepts a change of the six groups. Returns its task. If nothing would change, it is no task, or with `taskAnyway` one
 * that is FINISHED. The cluster shows the change when the task has finished.
 * @throws NotFoundError, InvalidError with every fault of the body, ConflictError while a task holds the cluster
 */
export async function updateCluster(
  on: Platform,
  scope: Scope,
  name: string,
  request: ClusterUpdate,
  { taskAnyway }: tasks.TaskAnyway,
): Promise<string[]> {
  if (isEmpty(request) && !taskAnyway) {
    await getCluster(on, scope, name);
    return [];
  }
  const slurm = await regionContext.slurmReferences(on, scope, request.add_ons);
  return on.database.accept(async (tx) => {
    const cluster = await lockFreeCluster(tx, scope, name);
    const { configuration: current } = cluster;
    const context = regionContext.configurationContext(on.catalog, scope, cluster, slurm);
    const problems = validateConfiguration(request, current, context);
    if (problems.length > 0) throw new errors.InvalidError(problems);
    const wanted = mergeConfiguration(current, request, name);
    const changed = changedGroups(current, wanted);
    const data = { cluster_name: name, ...request };
    if (changed.length === 0) {
      const unchanged = await tasks.unchangedTask(on, tx, scope, { type: UPDATE_CLUSTER.type, data }, { taskAnyway });
      return unchanged === undefined ? [] : [unchanged];
    }
    if (changed.includes('add_ons')) {
      await regionContext.keepShare(tx, scope, wanted);
      await regionContext.keepKeys(tx, scope, { slurmKeyIds: regionContext.addedKeys(current, wanted) });
    }
    const taskId = newTaskId();
    store.holdCluster(tx, cluster.id, { taskId, status: 'Provisioned', next: wanted });
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: UPDATE_CLUSTER,
      data,
      input: { clusterId: cluster.id },
      wants: [await clusterConfigured(tx, scope, { id: cluster.id, configuration: wanted })],
    });
    return [taskId];
  });
}

/**
 * @throws NotFoundError, InvalidError for volumes that aren't the cluster's, ConflictError while a task holds the
 * cluster or others use the security group of its nodes
 */
export async function deleteCluster(on: Platform, scope: Scope, name: string, volumeIds: string[]): Promise<string> {
  return on.database.accept(async (tx) => {
    const cluster = await lockKnownCluster(tx, scope, name);
    if (cluster.status === 'Deleting') {
      const again = await tasks.removeAgain(on, tx, scope, cluster.task_id, DELETE_CLUSTER, DELETE_POOL);
      if (again !== undefined) return again;
    }
    await checkNamedDisks(tx, scope, cluster.pools, volumeIds);
    refuseHeld(cluster);
    await workerGroups.refuseUsed(tx, cluster);
    const taskId = tasks.deletionId(scope);
    await removeAllNodes(tx, cluster.pools, taskId, volumeIds);
    store.holdCluster(tx, cluster.id, { taskId, status: 'Deleting' });
    return tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_CLUSTER,
      data: { cluster_id: cluster.id, cluster_name: name },
      input: { clusterId: cluster.id, ...quotaOwner(scope) },
      wants: [remove('cluster', cluster.id)],
    });
  });
}

/** Whether an update contains no group. It then changes nothing, whatever a running task will make of the cluster. */
function isEmpty(request: ClusterUpdate): boolean {
  return Object.values(request).every((group) => group === undefined || group === null);
}

function nameTaken(name: string): errors.ConflictError {
  return new errors.ConflictError(
    `A cluster named ${name} already exists in this project and region; choose another name`,
  );
}

export const clusterDeletion = waitingDeletion('delete_k8s_cluster_v2', deleteCluster, ['cluster_name']);
