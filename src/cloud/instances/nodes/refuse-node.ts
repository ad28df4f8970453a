import type { Transaction } from '../../../db/database.ts';
import { ConflictError } from '../../../lib/errors.ts';

/** A node takes no change that isn't its pool's. @throws ConflictError naming pool and cluster */
export async function refuseNode(
  tx: Transaction,
  instance: { id: string; pool_id: string | null },
): Promise<void> {
  if (instance.pool_id === null) return;
  const { pool, cluster } = await tx.sql
    .selectFrom('kubernetes_pools as pool')
    .innerJoin('kubernetes_clusters as cluster', 'cluster.id', 'pool.cluster_id')
    .select(['pool.name as pool', 'cluster.name as cluster'])
    .where('pool.id', '=', instance.pool_id)
    .executeTakeFirstOrThrow();
  throw new ConflictError(
    `Instance ${instance.id} is a node of pool ${pool} of Kubernetes cluster ${cluster}: change the pool instead, or delete the node through the cluster`,
  );
}
