import type { Transaction } from '../../../db/database.ts';
import { HeldError, NotFoundError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { type ClusterRow, lockCluster, type PoolRow } from './store.ts';

/**
 * Locks the cluster for a change until the transaction ends, and returns it.
 * @throws NotFoundError, ConflictError while a task holds it
 */
export async function lockFreeCluster(tx: Transaction, scope: Scope, name: string): Promise<ClusterRow> {
  const cluster = await lockKnownCluster(tx, scope, name);
  refuseHeld(cluster);
  return cluster;
}

/** Locks the cluster even if a task holds it. @throws NotFoundError */
export async function lockKnownCluster(tx: Transaction, scope: Scope, name: string): Promise<ClusterRow> {
  const cluster = found('Cluster', name, await lockCluster(tx, scope, name));
  tx.about({ ...cluster, type: 'k8s_cluster' });
  return cluster;
}

/** @throws NotFoundError */
export function poolOf({ pools }: Pick<ClusterRow, 'pools'>, name: string): PoolRow {
  const pool = pools.find((item) => item.name === name);
  if (!pool) throw new NotFoundError('Pool', name);
  return pool;
}

/**
 * What a held cluster will be is only known when its task has ended, so even a change that changes nothing has to
 * wait.
 * @throws ConflictError
 */
export function refuseHeld({ name, status, task_id: taskId }: ClusterRow): void {
  if (taskId === null) return;
  const doing =
    status === 'Provisioned' ? 'being updated' : status === 'Deleting' ? 'being deleted' : 'being created';
  throw new HeldError(
    `Cluster ${name} is ${doing} by task ${taskId}. Wait until the task has ended, then try again`,
    taskId,
  );
}
