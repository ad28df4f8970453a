import type { Transaction } from '../../db/database.ts';
import type { Place } from '../projects/place.ts';
import { refuseNode } from './nodes/refuse-node.ts';
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
