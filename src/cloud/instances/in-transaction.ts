import type { Transaction } from '../../db/database.ts';
import type { Place } from '../../db/place.ts';
import { ConflictError } from '../../lib/errors.ts';
import { lockInstance, type PlainInstance } from './store.ts';

/**
 * The instance that a volume is for, kept from changing until the transaction ends. To be called before volumes are
 * locked. @throws ConflictError for a node of a cluster
 */
export async function lockHost(
  tx: Transaction,
  place: Place,
  id: string,
): Promise<PlainInstance | undefined> {
  const instance = await lockInstance(tx, place, id.toLowerCase());
  if (instance) await refuseNode(tx, instance);
  return instance;
}

/** @throws ConflictError when the instance is a node of a cluster, whose disks are its pool's affair */
export async function refuseNodeAsHost(tx: Transaction, id: string): Promise<void> {
  // An instance is a node for good or never, so nothing needs to be locked.
  const { pool_id } = await tx.sql
    .selectFrom('instances')
    .select('pool_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await refuseNode(tx, { id, pool_id });
}

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
