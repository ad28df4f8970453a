import type { Transaction } from '../../../../db/database.ts';
import { usedBy } from '../../../ground/tasks/service.ts';
import { hostOf } from './store.ts';

/** @throws ConflictError naming the instance, or the pool and cluster of the node, that has the volume */
export async function refuseAttached(tx: Transaction, volume: { id: string }): Promise<void> {
  const host = await hostOf(tx, volume.id);
  if (!host) return;
  throw await usedBy(
    tx,
    host.pool === null
      ? `Volume ${volume.id} is attached to instance ${host.name} (${host.id}); detach it first`
      : `Volume ${volume.id} is a disk of node ${host.name} of pool ${host.pool} of Kubernetes cluster ${host.cluster} and stays with it`,
    [[{ kind: 'machine', id: host.id }]],
  );
}
