import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../../lib/errors.ts';
import { refuseHeld } from '../../../../lib/held.ts';
import { ATTACHABLE, type VmState } from '../../../ground/hosts/states.ts';
import { usedBy } from '../../../ground/tasks/service.ts';
import { devicesOf, hostOf } from './store.ts';

export interface VolumeHost {
  id: string;
  vm_state: VmState;
  task_id: string | null;
}

/** @throws InvalidError naming `field` when there is no instance, ConflictError when it can't be changed now */
export function requireReady(host: VolumeHost | undefined, id: string, field: string): VolumeHost {
  if (!host) throw new InvalidError({ [field]: [`No instance ${id} in this project and region.`] });
  refuseHeld(`Instance ${host.id}`, host);
  if (!ATTACHABLE.includes(host.vm_state)) {
    throw new ConflictError(
      `Instance ${host.id} is ${host.vm_state}; volumes can only be attached and detached while it is ${ATTACHABLE.join(', ')}`,
    );
  }
  return host;
}

/**
 * Returns a free device name. A virtio controller names disks by one letter.
 * @throws ConflictError if all are taken
 */
export async function freeDevice(tx: Transaction, host: VolumeHost): Promise<string> {
  const taken = await devicesOf(tx, host.id);
  const device = [...'abcdefghijklmnopqrstuvwxyz']
    .map((letter) => `/dev/vd${letter}`)
    .find((name) => !taken.includes(name));
  if (device === undefined) {
    throw new ConflictError(
      `Instance ${host.id} already has ${taken.length} volumes, the maximum; detach one first`,
    );
  }
  return device;
}

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
