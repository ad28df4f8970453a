import { type RawBuilder, type Selectable, sql } from 'kysely';
import { belongsTo, isIn, type Place, type Sql, type Transaction } from '../../../../db/database.ts';
import { pageWithCount } from '../../../../db/page.ts';
import type { Tables } from '../../../../db/tables.ts';
import { blockerOf, isUuid } from '../../../../lib/ids.ts';
import type { Page } from '../../../../lib/page.ts';
import type { VolumeTypeName } from '../../../ground/catalog/service.ts';
import { type QuotaOwner, releaseQuota } from '../../../ground/quotas/service.ts';
import { neededBy } from '../../../ground/tasks/service.ts';
import type { SnapshotListQuery } from './schema.ts';

export type SnapshotRow = Selectable<Tables['snapshots']>;

function snapshots(db: Sql, where: RawBuilder<boolean>) {
  return db.selectFrom('snapshots').selectAll().where(where);
}

export async function findSnapshot(db: Sql, place: Place, id: string): Promise<SnapshotRow | undefined> {
  return snapshots(db, belongsTo(place)).where('id', '=', id).executeTakeFirst();
}

/** Returns the snapshot, locked against concurrent changes until the transaction ends. */
export async function lockSnapshot(db: Sql, place: Place, id: string): Promise<SnapshotRow | undefined> {
  return snapshots(db, belongsTo(place)).where('id', '=', id).forUpdate().executeTakeFirst();
}

export async function listSnapshots(db: Sql, place: Place, query: SnapshotListQuery): Promise<Page<SnapshotRow>> {
  let matching = snapshots(db, isIn(place));
  const scheduled = db.selectFrom('scheduled_snapshots').select('snapshot_id');
  if (query.schedule_id !== undefined) {
    const known = isUuid(query.schedule_id) ? query.schedule_id : null;
    matching = matching.where('id', 'in', scheduled.where('schedule_id', '=', known));
  }
  if (query.lifecycle_policy_id !== undefined) {
    matching = matching.where('id', 'in', scheduled.where('policy_id', '=', query.lifecycle_policy_id));
  }
  if (query.volume_id !== undefined) matching = matching.where('volume_id', '=', query.volume_id);
  if (query.instance_id !== undefined) {
    matching = matching.where(
      sql<boolean>`volume_id in (select volume_id from volume_attachments where instance_id = ${query.instance_id})`,
    );
  }
  return pageWithCount(matching.orderBy('created_at', 'desc').orderBy('id', 'desc'), query);
}

/** Returns up to `limit` volumes that are still being filled from one of the snapshots. */
export async function copiesOf(
  tx: Transaction,
  snapshotIds: readonly string[],
  limit: number,
): Promise<{ id: string; snapshot_id: string }[]> {
  const keys = snapshotIds.map((id) => `snapshot:${id}`);
  const { rows } = await sql<{ id: string; snapshot_id: string }>`
    select id, spec #>> '{source,snapshotId}' as snapshot_id from wants
    where after && ${keys}::text[] and after <> '{}' and due_at is not null
      and kind = 'volume' and settled_generation is null
    order by snapshot_id, id limit ${limit}`.execute(tx.sql);
  return rows;
}

const SHOWN_IN_MESSAGE = 10;

/** What volumes need from snapshots: as sources of new volumes, and as what must be deleted before a volume can be. */

export interface SnapshotSource {
  id: string;
  sizeGib: number;
  volumeType: VolumeTypeName;
  bootable: boolean;
  imageMetadata: Record<string, string> | null;
  /** Why nothing can be created from the snapshot now: the task that holds it, or its status. */
  blocker: string | undefined;
}

/** Returns the snapshots with these IDs, locked against removal until the transaction ends. */
export async function find(tx: Transaction, place: Place, ids: string[]): Promise<Map<string, SnapshotSource>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.sql
    .selectFrom('snapshots')
    .innerJoin('volumes', 'volumes.id', 'snapshots.volume_id')
    .select(['snapshots.id', 'snapshots.size_gib', 'snapshots.volume_type', 'snapshots.status'])
    .select(['bootable', 'image_metadata', 'snapshots.task_id'])
    .where('snapshots.id', 'in', ids)
    .where(belongsTo(place, 'snapshots'))
    .orderBy('snapshots.id')
    .forShare('snapshots')
    .execute();
  const sources = rows.map((row) => ({
    id: row.id,
    sizeGib: row.size_gib,
    volumeType: row.volume_type,
    bootable: row.bootable,
    imageMetadata: row.image_metadata,
    blocker: blockerOf(row, 'available'),
  }));
  return new Map(sources.map((source) => [source.id, source]));
}

/** Locks the snapshots of the volumes until the transaction ends, and returns them. */
export async function lockOf(
  tx: Transaction,
  volumeIds: string[],
): Promise<Pick<SnapshotRow, 'id' | 'volume_id' | 'task_id'>[]> {
  if (volumeIds.length === 0) return [];
  return tx.sql
    .selectFrom('snapshots')
    .select(['id', 'volume_id', 'task_id'])
    .where('volume_id', 'in', volumeIds)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** Locks the volume's latest snapshot in the same way and returns it; undefined when the volume has none. */
export async function lockLatestOf(tx: Transaction, volumeId: string) {
  return tx.sql
    .selectFrom('snapshots')
    .select(['id', 'size_gib', 'task_id'])
    .where('volume_id', '=', volumeId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
}

/** Call this once the snapshots are locked. @throws ConflictError while volumes are being filled from them */
export async function refuseCopied(tx: Transaction, ids: readonly string[]): Promise<void> {
  const [first, ...others] = await copiesOf(tx, ids, SHOWN_IN_MESSAGE);
  if (!first) return;
  const volumes = [first, ...others].map(({ id }) => id).join(', ');
  throw await neededBy(
    tx,
    `Snapshot ${first.snapshot_id} is being copied to volumes; wait until they are ready: ${volumes}`,
    [first, ...others].map(({ id }) => ({ kind: 'volume', id })),
  );
}

/** Marks the snapshots as held by the task that restores or deletes them. */
export async function hold(tx: Transaction, ids: string[], status: 'restoring' | 'deleting', taskId: string) {
  await change(tx, ids, { status, task_id: taskId, updated_at: tx.now });
}

/** Makes the snapshots available again after their task has ended. */
export async function settle(tx: Transaction, ids: string[]): Promise<void> {
  await change(tx, ids, { status: 'available', task_id: null, updated_at: tx.now });
}

async function change(tx: Transaction, ids: string[], row: Pick<SnapshotRow, 'status' | 'task_id' | 'updated_at'>) {
  if (ids.length > 0) await tx.sql.updateTable('snapshots').set(row).where('id', 'in', ids).execute();
}

/** Deletes the rows of the snapshots and releases their quota. */
export async function drop(tx: Transaction, ids: string[], owner: QuotaOwner): Promise<void> {
  if (ids.length === 0) return;
  await tx.sql.deleteFrom('snapshots').where('id', 'in', ids).execute();
  releaseQuota(tx, owner, 'snapshot_count', ids.length);
}
