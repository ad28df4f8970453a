import { type TaskEnd, taskType } from '../../../../convergence/task-kind.ts';
import type { Transaction } from '../../../../db/database.ts';
import * as nodes from '../../../compute/instances/nodes/in-transaction.ts';
import * as placementGroups from '../../../compute/placement-groups/service.ts';
import { type QuotaAmounts, releaseQuotas } from '../../../ground/quotas/service.ts';
import { linkGroups, type PoolRow, releaseCluster } from '../store.ts';
import { giveBack, type OwnedClusterInput, removeCluster } from '../tasks.ts';

interface PoolInput {
  clusterId: string;
  poolId: string;
}
interface ResizeInput extends PoolInput {
  nodeCount: number;
}
interface RemovalInput extends OwnedClusterInput {
  poolId: string;
  /** Whether the cluster is deleted with it. */
  last: boolean;
}

export const CREATE_POOL = taskType<PoolInput>('create_k8s_cluster_pool_v2', 60);
/** Also used when a pool's node is replaced. */
export const RESIZE_POOL = taskType<ResizeInput>('resize_k8s_cluster_v2', 60);
export const DELETE_POOL = taskType<RemovalInput>('delete_k8s_cluster_pool_v2', 60);
/** Not a published task type: the published operation answers with the pool and not with a task. */
export const CONFIGURE_POOL = taskType<object>('update_k8s_cluster_pool_v2', 60);

/** Deletes the pool with its placement group. Returns the quotas that it had besides its nodes. */
async function removePool(
  tx: Transaction,
  task: { id: string },
  { clusterId, poolId }: PoolInput,
): Promise<QuotaAmounts> {
  if (!(await releaseCluster(tx, { clusterId, taskId: task.id }))) return {};
  const servergroup_count = await placementGroups.countOf(tx, { poolId });
  await deletePool(tx, poolId);
  return { servergroup_count };
}

/** How tasks on single pools end. All kinds except the last hold the cluster until then. */
export function poolTasks(): TaskEnd[] {
  const create: TaskEnd<PoolInput> = {
    ...CREATE_POOL,
    async complete(tx, task, { clusterId, poolId }) {
      await nodes.finish(tx, task.id);
      await markPool(tx, poolId, null);
      await releaseCluster(tx, { clusterId, taskId: task.id });
      return { k8s_pools: [poolId] };
    },
    async abandon(tx, task, { clusterId, poolId }) {
      const freed = await nodes.takeBack(tx, task.id);
      await giveBack(tx, freed, await removePool(tx, task, { clusterId, poolId }));
    },
  };

  const resize: TaskEnd<ResizeInput> = {
    ...RESIZE_POOL,
    async complete(tx, task, { clusterId, poolId, nodeCount }) {
      const freed = await nodes.finish(tx, task.id);
      await tx.sql.updateTable('kubernetes_pools').set({ node_count: nodeCount }).where('id', '=', poolId).execute();
      await releaseCluster(tx, { clusterId, taskId: task.id });
      await giveBack(tx, freed);
    },
    async abandon(tx, task, { clusterId }) {
      const freed = await nodes.takeBack(tx, task.id);
      await releaseCluster(tx, { clusterId, taskId: task.id });
      await giveBack(tx, freed);
    },
  };

  const remove: TaskEnd<RemovalInput> = {
    ...DELETE_POOL,
    removes: true,
    async complete(tx, task, { poolId, last, ...cluster }) {
      const freed = await nodes.finish(tx, task.id);
      if (last) {
        await removeCluster(tx, task, cluster, freed);
        return;
      }
      const { clusterId, ...owner } = cluster;
      const gone = await removePool(tx, task, { clusterId, poolId });
      releaseQuotas(tx, owner, { ...freed?.amounts, ...gone });
    },
  };

  // The pool shows its new settings as soon as they are accepted, so they have to take effect in the end.
  const configure: TaskEnd<object> = {
    ...CONFIGURE_POOL,
    keeps: true,
    complete: async () => null,
    abandon: async () => {},
  };

  return [create, resize, remove, configure];
}

export type PoolSettings = Pick<
  PoolRow,
  | 'min_node_count'
  | 'max_node_count'
  | 'auto_healing_enabled'
  | 'labels'
  | 'taints'
  | 'crio_config'
  | 'kubelet_config'
  | 'security_group_ids'
>;

/** Writes the changed settings of a pool. The caller holds the lock on the cluster. */
export async function changePool(tx: Transaction, id: string, settings: PoolSettings): Promise<void> {
  const { security_group_ids, labels, taints, crio_config, kubelet_config, ...columns } = settings;
  await tx.sql
    .updateTable('kubernetes_pools')
    .set({
      ...columns,
      labels: JSON.stringify(labels),
      taints: JSON.stringify(taints),
      crio_config: JSON.stringify(crio_config),
      kubelet_config: JSON.stringify(kubelet_config),
    })
    .where('id', '=', id)
    .execute();
  await tx.sql.deleteFrom('kubernetes_pool_security_groups').where('pool_id', '=', id).execute();
  await linkGroups(tx, [{ id, security_group_ids }]);
}

/** Records what the holding task does with the pool; null when the task has ended. */
export async function markPool(tx: Transaction, id: string, pending: 'Deleting' | null): Promise<void> {
  await tx.sql.updateTable('kubernetes_pools').set({ pending }).where('id', '=', id).execute();
}

export async function deletePool(tx: Transaction, id: string): Promise<void> {
  await tx.sql.deleteFrom('kubernetes_pools').where('id', '=', id).execute();
}
