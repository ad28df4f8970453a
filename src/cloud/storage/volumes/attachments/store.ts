import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../../lib/errors.ts';
import { newId, refuseHeld } from '../../../../lib/ids.ts';
import { ATTACHABLE, type VmState } from '../../../ground/hosts/states.ts';
import { usedBy } from '../../../ground/tasks/service.ts';

export interface Attachment {
  instance_id: string;
  boot_index: number | null;
}

export async function attachmentOf(tx: Transaction, volumeId: string): Promise<Attachment | undefined> {
  return tx.sql
    .selectFrom('volume_attachments')
    .select(['instance_id', 'boot_index'])
    .where('volume_id', '=', volumeId)
    .executeTakeFirst();
}

/** Returns the instance that has the volume. If the instance is a node, also its pool and cluster. */
export async function hostOf(tx: Transaction, volumeId: string) {
  return tx.sql
    .selectFrom('volume_attachments as attachment')
    .innerJoin('instances', 'instances.id', 'attachment.instance_id')
    .leftJoin('kubernetes_pools as pool', 'pool.id', 'instances.pool_id')
    .leftJoin('kubernetes_clusters as cluster', 'cluster.id', 'pool.cluster_id')
    .select(['instances.id', 'instances.name', 'pool.name as pool', 'cluster.name as cluster'])
    .where('attachment.volume_id', '=', volumeId)
    .executeTakeFirst();
}

export async function devicesOf(tx: Transaction, instanceId: string): Promise<string[]> {
  const rows = await tx.sql
    .selectFrom('volume_attachments')
    .select('device')
    .where('instance_id', '=', instanceId)
    .execute();
  return rows.map(({ device }) => device);
}

/** Inserts an attachment of a volume that doesn't boot and that stays when the instance is deleted. */
export async function insertAttachment(
  tx: Transaction,
  attachment: { volumeId: string; instanceId: string; device: string; tag: string | null },
): Promise<void> {
  await tx.sql
    .insertInto('volume_attachments')
    .values({
      id: newId(),
      volume_id: attachment.volumeId,
      instance_id: attachment.instanceId,
      device: attachment.device,
      attachment_tag: attachment.tag,
      delete_on_termination: false,
      boot_index: null,
      attached_at: null,
    })
    .execute();
}

export async function deleteAttachment(tx: Transaction, volumeId: string): Promise<void> {
  await tx.sql.deleteFrom('volume_attachments').where('volume_id', '=', volumeId).execute();
}

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

/** Returns a free device name. A virtio controller names disks by one letter. @throws ConflictError if all are taken */
export async function freeDevice(tx: Transaction, host: VolumeHost): Promise<string> {
  const taken = await devicesOf(tx, host.id);
  const device = [...'abcdefghijklmnopqrstuvwxyz']
    .map((letter) => `/dev/vd${letter}`)
    .find((name) => !taken.includes(name));
  if (device === undefined) {
    throw new ConflictError(`Instance ${host.id} already has ${taken.length} volumes, the maximum; detach one first`);
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
