import type { Transaction } from '../../../../db/database.ts';
import { linkGroups, type PoolRow } from '../store.ts';

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

export async function setNodeCount(tx: Transaction, id: string, nodeCount: number): Promise<void> {
  await tx.sql.updateTable('kubernetes_pools').set({ node_count: nodeCount }).where('id', '=', id).execute();
}

export async function deletePool(tx: Transaction, id: string): Promise<void> {
  await tx.sql.deleteFrom('kubernetes_pools').where('id', '=', id).execute();
}
