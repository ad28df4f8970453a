import type { Selectable } from 'kysely';
import { belongsTo, type Place, type Transaction } from '../../../db/database.ts';
import type { Tables } from '../../../db/tables.ts';
import { ConflictError } from '../../../lib/errors.ts';

/* Instances, as those see them who have something in them. */

export type PlainInstance = Selectable<Tables['instances']>;

/** Locks the instance against concurrent changes until the transaction ends, and returns it. */
export async function lockInstance(tx: Transaction, place: Place, id: string): Promise<PlainInstance | undefined> {
  return tx.sql
    .selectFrom('instances')
    .selectAll()
    .where('id', '=', id)
    .where(belongsTo(place))
    .forUpdate()
    .executeTakeFirst();
}

/**
 * Locks the instance for a volume until the transaction ends. Call it before locking volumes.
 * @throws ConflictError for a node of a cluster
 */
export async function lockHost(tx: Transaction, place: Place, id: string): Promise<PlainInstance | undefined> {
  const instance = await lockInstance(tx, place, id.toLowerCase());
  if (instance) await refuseNode(tx, instance);
  return instance;
}

/** @throws ConflictError when the instance is a node of a cluster, because its pool manages its disks */
export async function refuseNodeAsHost(tx: Transaction, id: string): Promise<void> {
  // An instance never becomes a node or stops being one, so no lock is needed.
  const { pool_id } = await tx.sql
    .selectFrom('instances')
    .select('pool_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await refuseNode(tx, { id, pool_id });
}

/** Refuses changes of a node, as only its pool may change it. @throws ConflictError naming pool and cluster */
export async function refuseNode(tx: Transaction, instance: { id: string; pool_id: string | null }): Promise<void> {
  if (instance.pool_id === null) return;
  const { pool, cluster } = await tx.sql
    .selectFrom('kubernetes_pools as pool')
    .innerJoin('kubernetes_clusters as cluster', 'cluster.id', 'pool.cluster_id')
    .select(['pool.name as pool', 'cluster.name as cluster'])
    .where('pool.id', '=', instance.pool_id)
    .executeTakeFirstOrThrow();
  throw new ConflictError(
    `Instance ${instance.id} is a node of pool ${pool} of Kubernetes cluster ${cluster}. Change the pool instead, or delete the node through the cluster`,
  );
}
