import { ConflictError } from '../../lib/errors.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import type { SnapshotRows } from '../volumes/snapshot-rows.ts';
import { blockerOf, type SnapshotSources } from '../volumes/sources.ts';
import { copiesOf } from './store.ts';

const SHOWN_IN_MESSAGE = 10;

/** What volumes need of snapshots: as sources of new ones, and as what has to go before they can. */
export const snapshotRows: SnapshotRows & SnapshotSources = {
  async find(tx, place, ids) {
    if (ids.length === 0) return new Map();
    const rows = await tx.sql
      .selectFrom('snapshots')
      .innerJoin('volumes', 'volumes.id', 'snapshots.volume_id')
      .select(['snapshots.id', 'snapshots.size_gib', 'snapshots.volume_type', 'snapshots.status'])
      .select(['bootable', 'image_metadata', 'snapshots.task_id'])
      .where('snapshots.id', 'in', ids)
      .where('snapshots.project_id', '=', place.projectId)
      .where('snapshots.region_id', '=', place.regionId)
      .orderBy('snapshots.id')
      .forShare('snapshots')
      .execute();
    return new Map(
      rows.map((row) => [
        row.id,
        {
          id: row.id,
          sizeGib: row.size_gib,
          volumeType: row.volume_type,
          bootable: row.bootable,
          imageMetadata: row.image_metadata,
          blocker: blockerOf(row, 'available'),
        },
      ]),
    );
  },

  async lockOf(tx, volumeIds) {
    if (volumeIds.length === 0) return [];
    return tx.sql
      .selectFrom('snapshots')
      .select(['id', 'volume_id', 'task_id'])
      .where('volume_id', 'in', volumeIds)
      .orderBy('id')
      .forUpdate()
      .execute();
  },

  async lockLatestOf(tx, volumeId) {
    return tx.sql
      .selectFrom('snapshots')
      .select(['id', 'size_gib', 'task_id'])
      .where('volume_id', '=', volumeId)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .forUpdate()
      .executeTakeFirst();
  },

  async refuseCopied(tx, ids) {
    const [first, ...others] = await copiesOf(tx, ids, SHOWN_IN_MESSAGE);
    if (!first) return;
    const volumes = [first, ...others].map(({ id }) => id).join(', ');
    throw new ConflictError(
      `Snapshot ${first.snapshot_id} is being copied to volumes; wait until these are there: ${volumes}`,
    );
  },

  async restore(tx, id, taskId, now) {
    await tx.sql
      .updateTable('snapshots')
      .set({ status: 'restoring', task_id: taskId, updated_at: now })
      .where('id', '=', id)
      .execute();
  },

  async hold(tx, ids, taskId, now) {
    if (ids.length === 0) return;
    await tx.sql
      .updateTable('snapshots')
      .set({ status: 'deleting', task_id: taskId, updated_at: now })
      .where('id', 'in', ids)
      .execute();
  },

  async keep(tx, ids, now) {
    if (ids.length === 0) return;
    await tx.sql
      .updateTable('snapshots')
      .set({ status: 'available', task_id: null, updated_at: now })
      .where('id', 'in', ids)
      .execute();
  },

  async drop(tx, ids, owner) {
    if (ids.length === 0) return;
    await tx.sql.deleteFrom('snapshots').where('id', 'in', ids).execute();
    await releaseQuota(tx, owner, 'snapshot_count', ids.length);
  },
};
