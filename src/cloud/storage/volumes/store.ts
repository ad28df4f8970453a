import { type RawBuilder, type Selectable, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import {
  belongsTo,
  isIn,
  newResource,
  type Place,
  type Sql,
  type Transaction,
  tagConditions,
} from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Page } from '../../../lib/page.ts';
import type { VolumeTypeName } from '../../ground/catalog/schema.ts';
import type { VolumeListQuery, VolumeStatus } from './schema.ts';
import type { VolumeShape } from './sources.ts';

export type PlainVolume = Selectable<Tables['volumes']>;
export interface AttachmentRow {
  id: string;
  instance_id: string;
  instance_name: string;
  flavor_id: string;
  device: string;
  boot_index: number | null;
  attached_at: Date | null;
}
export type VolumeRow = PlainVolume & { attachments: AttachmentRow[]; snapshot_ids: string[] };

/** Selects volumes with their attachments and snapshots in one query. */
function volumes(db: Sql, where: RawBuilder<boolean>) {
  return db
    .selectFrom('volumes')
    .selectAll()
    .select((volume) =>
      jsonArrayFrom(
        volume
          .selectFrom('volume_attachments as attachment')
          .innerJoin('instances', 'instances.id', 'attachment.instance_id')
          .select(['attachment.id', 'instance_id', 'instances.name as instance_name', 'flavor_id'])
          .select(['device', 'boot_index', 'attached_at'])
          .whereRef('attachment.volume_id', '=', 'volumes.id'),
      ).as('attachments'),
    )
    .select(
      sql<string[]>`array(select snapshots.id::text from snapshots where volume_id = volumes.id
        order by snapshots.created_at, snapshots.id)`.as('snapshot_ids'),
    )
    .where(where);
}

export async function findVolume(db: Sql, place: Place, id: string): Promise<VolumeRow | undefined> {
  const row = await volumes(db, belongsTo(place)).where('id', '=', id).executeTakeFirst();
  return row && withDates(row);
}

export async function listVolumes(db: Sql, place: Place, query: VolumeListQuery): Promise<Page<VolumeRow>> {
  let matching = volumes(db, isIn(place)).where((eb) => eb.and(tagConditions('volumes.tags', query)));
  if (query.name_part !== undefined) {
    matching = matching.where(sql<boolean>`position(lower(${query.name_part}) in lower(name)) > 0`);
  }
  if (query.id_part !== undefined) {
    matching = matching.where(sql<boolean>`position(lower(${query.id_part}) in id::text) > 0`);
  }
  if (query.bootable !== undefined) matching = matching.where('bootable', '=', query.bootable);
  if (query.has_attachments !== undefined) {
    // If this were compared with a value, PostgreSQL would read the attachments of all accounts.
    const attached = sql<boolean>`exists (select from volume_attachments where volume_id = volumes.id)`;
    matching = matching.where(query.has_attachments ? attached : sql<boolean>`not ${attached}`);
  }
  if (query.instance_id !== undefined) {
    matching = matching.where(
      sql<boolean>`exists (select from volume_attachments
        where volume_id = volumes.id and instance_id = ${query.instance_id})`,
    );
  }
  if (query.cluster_id !== undefined && !isUuid(query.cluster_id)) {
    matching = matching.where(sql<boolean>`false`);
  } else if (query.cluster_id !== undefined) {
    matching = matching.where(sql<boolean>`exists (
      select from volume_attachments as attachment
      join instances on instances.id = attachment.instance_id
      join kubernetes_pools on kubernetes_pools.id = instances.pool_id
      where attachment.volume_id = volumes.id and kubernetes_pools.cluster_id = ${query.cluster_id})`);
  }
  const ordered = matching.orderBy('created_at', 'desc').orderBy('id', 'desc');
  const { count, rows } = await pageWithCount(ordered, query);
  return { count, rows: rows.map(withDates) };
}

/** JSON carries times as text. */
type WithTexts = Omit<VolumeRow, 'attachments'> & {
  attachments: (Omit<AttachmentRow, 'attached_at'> & { attached_at: Date | string | null })[];
};
function withDates(row: WithTexts): VolumeRow {
  const attachments = row.attachments.map((one) => ({
    ...one,
    attached_at: one.attached_at === null ? null : new Date(one.attached_at),
  }));
  return { ...row, attachments };
}

export interface NewVolume {
  id: string;
  name: string;
  shape: VolumeShape;
  tags: Record<string, string>;
  status: VolumeStatus;
}

export async function insertVolumes(tx: Transaction, place: Place, list: NewVolume[], taskId: string): Promise<void> {
  if (list.length === 0) return;
  await tx.sql
    .insertInto('volumes')
    .values(
      list.map(({ id, name, shape, tags, status }) => ({
        id,
        name,
        size_gib: shape.sizeGib,
        volume_type: shape.volumeType,
        status,
        bootable: shape.bootable,
        image_metadata: shape.imageMetadata && JSON.stringify(shape.imageMetadata),
        tags: JSON.stringify(tags),
        ...newResource(place, taskId, tx.now),
      })),
    )
    .execute();
}

/** Locks the volumes against a concurrent change until the transaction ends. */
export async function lockVolumes(tx: Transaction, place: Place, ids: string[]): Promise<PlainVolume[]> {
  if (ids.length === 0) return [];
  return tx.sql
    .selectFrom('volumes')
    .selectAll()
    .where('id', 'in', ids)
    .where(belongsTo(place))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

export async function setStatus(tx: Transaction, ids: string[], status: VolumeStatus, taskId: string | null) {
  if (ids.length === 0) return;
  await tx.sql
    .updateTable('volumes')
    .set({ status, task_id: taskId, updated_at: tx.now })
    .where('id', 'in', ids)
    .execute();
}

/** Changes what takes effect at once: name, tags, size and type. */
export async function changeVolume(
  tx: Transaction,
  id: string,
  change: { name?: string; tags?: string; volume_type?: VolumeTypeName; size_gib?: number },
): Promise<void> {
  await tx.sql
    .updateTable('volumes')
    .set({ ...change, updated_at: tx.now })
    .where('id', '=', id)
    .execute();
}

/**
 * Frees the volume from its task. Its attachment decides whether it is in use or available. The instance is locked before: its
 * revision rises with the attachment.
 */
export async function settleVolume(tx: Transaction, id: string): Promise<void> {
  await sql`
    with holder as materialized (
      select from instances join volume_attachments on instance_id = instances.id
      where volume_id = ${id} for no key update of instances
    ), attached as (
      update volume_attachments set attached_at = coalesce(attached_at, ${tx.now})
      where volume_id = ${id} and (select count(*) from holder) >= 0
      returning volume_id
    )
    update volumes set status = case when exists (select from attached) then 'in-use' else 'available' end,
      task_id = null, updated_at = ${tx.now}
    where id = ${id}`.execute(tx.sql);
}

export async function deleteVolumes(tx: Transaction, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.sql.deleteFrom('volumes').where('id', 'in', ids).execute();
}
