import { sql } from 'kysely';
import { belongsTo, type Place, type Transaction } from '../../../../db/database.ts';
import { newId } from '../../../../lib/ids.ts';
import type { ImageSource } from '../../image-sources/in-transaction.ts';
import type { VolumeShape, VolumeWish } from '../sources.ts';
import type { PlainVolume } from '../store.ts';

/** Inserts the attachments. The volume that boots first becomes the first disk, as operating systems expect. */
export async function insertAttachments(tx: Transaction, instanceId: string, plan: PlannedVolume[]): Promise<void> {
  const inOrder = [...plan.filter((one) => one.bootIndex === 0), ...plan.filter((one) => one.bootIndex !== 0)];
  await tx.sql
    .insertInto('volume_attachments')
    .values(
      inOrder.map((one, position) => ({
        id: newId(),
        volume_id: one.id,
        instance_id: instanceId,
        device: `/dev/vd${String.fromCharCode('a'.charCodeAt(0) + position)}`,
        attachment_tag: one.attachmentTag,
        delete_on_termination: one.deleteOnTermination,
        boot_index: one.bootIndex,
        attached_at: null,
      })),
    )
    .execute();
}

/** Marks the volumes of the instances as in use, once the instances run. */
export async function settle(tx: Transaction, instanceIds: readonly string[]): Promise<void> {
  await sql`
    with attached as (
      update volume_attachments set attached_at = coalesce(attached_at, ${tx.now}) 
      where instance_id = any(${instanceIds}::uuid[])
      returning volume_id
    )
    update volumes set status = 'in-use', task_id = null, updated_at = ${tx.now}
    where id in (select volume_id from attached)`.execute(tx.sql);
}

/** A volume that is left after its instance is removed. */
export type VolumeLeft = Pick<PlainVolume, 'id' | 'name' | 'size_gib' | 'volume_type' | 'tags'>;

/** Detaches all volumes from the instances. Deletes the doomed ones, makes the others available and returns those. */
export async function detach(tx: Transaction, instanceIds: readonly string[], doomed: readonly string[]) {
  const detached = await tx.sql
    .deleteFrom('volume_attachments')
    .where(sql<boolean>`instance_id = any(${instanceIds}::uuid[])`)
    .returning('volume_id')
    .execute();
  await tx.sql.deleteFrom('volumes').where(sql<boolean>`id = any(${doomed}::uuid[])`).execute();
  const ids = detached.map((row) => row.volume_id);
  const { rows } = await sql<VolumeLeft>`
    update volumes set status = 'available', task_id = null, updated_at = ${tx.now}
    where id = any(${ids}::uuid[]) returning id, name, size_gib, volume_type, tags`.execute(tx.sql);
  return rows;
}

export interface Attached {
  id: string;
  task_id: string | null;
  status: string;
  delete_on_termination: boolean;
}

export async function lockAttached(tx: Transaction, instanceIds: readonly string[]): Promise<Attached[]> {
  return attachedTo(tx, instanceIds).forNoKeyUpdate('volumes').execute();
}

export async function findAttached(tx: Transaction, instanceIds: readonly string[]): Promise<Attached[]> {
  return attachedTo(tx, instanceIds).execute();
}

function attachedTo(tx: Transaction, instanceIds: readonly string[]) {
  return tx.sql
    .selectFrom('volumes')
    .innerJoin('volume_attachments as attachment', 'attachment.volume_id', 'volumes.id')
    .select(['volumes.id', 'task_id', 'status', 'delete_on_termination'])
    .where(sql<boolean>`attachment.instance_id = any(${instanceIds}::uuid[])`)
    .orderBy('volumes.id');
}

/** Returns those of the volumes that the project still has and nothing deletes. */
export async function existing(tx: Transaction, place: Place, ids: readonly string[]): Promise<string[]> {
  const found = await tx.sql
    .selectFrom('volumes')
    .select('id')
    .where(belongsTo(place))
    .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
    .where('status', '<>', 'deleting')
    .execute();
  return found.map(({ id }) => id);
}

/** Attaches each volume as its instance's only disk: the instance boots from it and is deleted together with it. */
export async function insertBootAttachments(tx: Transaction, disks: readonly { id: string; instanceId: string }[]) {
  await sql`
    insert into volume_attachments (id, volume_id, instance_id, device, delete_on_termination, boot_index)
    select gen_random_uuid(), volume_id, instance_id, '/dev/vda', true, 0
    from unnest(${disks.map(({ id }) => id)}::uuid[], ${disks.map(({ instanceId }) => instanceId)}::uuid[])
      as disk (volume_id, instance_id)`.execute(tx.sql);
}

/** Returns the volumes that are being created for the instances or deleted with them. */
export async function doomedWith(tx: Transaction, instanceIds: readonly string[]): Promise<string[]> {
  const rows = await tx.sql
    .selectFrom('volumes')
    .innerJoin('volume_attachments as attachment', 'attachment.volume_id', 'volumes.id')
    .select('volumes.id')
    .where(sql<boolean>`attachment.instance_id = any(${instanceIds}::uuid[])`)
    .where('status', 'in', ['creating', 'downloading', 'deleting'])
    .execute();
  return rows.map(({ id }) => id);
}

export async function imageIdsOf(tx: Transaction, instanceId: string): Promise<string[]> {
  const rows = await tx.sql
    .selectFrom('volumes')
    .innerJoin('volume_attachments as attachment', 'attachment.volume_id', 'volumes.id')
    .select(sql<string | null>`image_metadata ->> 'image_id'`.as('image_id'))
    .where('attachment.instance_id', '=', instanceId)
    .execute();
  return rows.flatMap(({ image_id }) => image_id ?? []);
}

/** A volume that a request asks for, for a new instance. */
export type InstanceVolumeWish = {
  attachment_tag?: string | undefined;
  delete_on_termination?: boolean | undefined;
  boot_index?: number | undefined;
} & (
  | (VolumeWish & { name?: string; tags?: Record<string, string>; metadata?: Record<string, string> })
  | { source: 'existing-volume'; volume_id: string }
);

/** A volume of a new instance: checked, and locked if it exists already. */
export interface PlannedVolume {
  id: string;
  /** Undefined if the volume exists already. */
  made: { name: string | undefined; shape: VolumeShape; tags: Record<string, string> } | undefined;
  image: ImageSource | undefined;
  bootable: boolean;
  deleteOnTermination: boolean;
  attachmentTag: string | null;
  bootIndex: number | null;
}
