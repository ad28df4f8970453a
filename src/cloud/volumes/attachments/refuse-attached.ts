import type { Transaction } from '../../../db/database.ts';
import { inUse } from '../../../lib/held.ts';
import { removersOf } from '../../tasks/in-transaction.ts';
import { hostOf } from './store.ts';

/** @throws ConflictError naming the instance, or the pool and cluster of the node, that has the volume */
export async function refuseAttached(tx: Transaction, volume: { id: string }): Promise<void> {
  const host = await hostOf(tx, volume.id);
  if (!host) return;
  throw inUse(
    host.pool === null
      ? `Volume ${volume.id} is attached to instance ${host.name} (${host.id}); detach it first`
      : `Volume ${volume.id} is a disk of node ${host.name} of pool ${host.pool} of Kubernetes cluster ${host.cluster} and stays with it`,
    await removersOf(tx, [[{ kind: 'machine', id: host.id }]]),
  );
}
