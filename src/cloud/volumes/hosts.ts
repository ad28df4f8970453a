import type { Transaction } from '../../db/database.ts';
import { ConflictError, InvalidError } from '../../lib/errors.ts';
import type { Place } from '../projects/place.ts';
import type { Scope } from '../projects/service.ts';
import { refuseHeld } from '../tasks/held.ts';
import { devicesOf } from './attachment-store.ts';

/** What this feature needs to know of instances. */
export interface VolumeHosts {
  /**
   * The instance, kept from changing until the transaction ends. To be called before volumes are locked.
   * @throws ConflictError for a node of a cluster
   */
  lock(tx: Transaction, place: Place, id: string): Promise<VolumeHost | undefined>;
  /** @throws ConflictError when the instance is a node of a cluster, whose disks are its pool's affair */
  refuseNode(tx: Transaction, id: string): Promise<void>;
}

export interface VolumeHost {
  id: string;
  vm_state: string;
  task_id: string | null;
}

/** Nova attaches and detaches in these. */
const STATES: readonly string[] = ['active', 'paused', 'stopped'];

/** @throws InvalidError naming `field` when there is none, ConflictError when it takes no change now */
export function requireReady(host: VolumeHost | undefined, id: string, field: string): VolumeHost {
  if (!host) throw new InvalidError({ [field]: [`No instance ${id} in this project and region.`] });
  refuseHeld(`Instance ${host.id}`, host);
  if (!STATES.includes(host.vm_state)) {
    throw new ConflictError(
      `Instance ${host.id} is ${host.vm_state}; volumes can be attached and detached while it is ${STATES.join(', ')}`,
    );
  }
  return host;
}

export function lockHost(hosts: VolumeHosts, tx: Transaction, scope: Scope, id: string) {
  return hosts.lock(tx, scope, id.toLowerCase());
}

/** A virtio controller names its disks by one letter. @throws ConflictError when all are taken */
export async function freeDevice(tx: Transaction, host: VolumeHost): Promise<string> {
  const taken = await devicesOf(tx, host.id);
  const device = [...'abcdefghijklmnopqrstuvwxyz']
    .map((letter) => `/dev/vd${letter}`)
    .find((name) => !taken.includes(name));
  if (device === undefined) {
    throw new ConflictError(`Instance ${host.id} has ${taken.length} volumes already; detach one first`);
  }
  return device;
}
