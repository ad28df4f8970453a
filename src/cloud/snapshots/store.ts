import { type Selectable, sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import type { Place } from '../projects/place.ts';

export type SnapshotRow = Selectable<Tables['snapshots']>;

export interface SnapshotFilter {
  volumeId?: string | undefined;
  instanceId?: string | undefined;
  /** Whether only those that a schedule or a policy took are asked for. */
  planned: boolean;
  limit: number;
  offset: number;
}

function snapshots(db: Sql, place: Place) {
  return db
    .selectFrom('snapshots')
    .selectAll()
    .where('project_id', '=', place.projectId)
    .where('region_id', '=', place.regionId);
}

export async function findSnapshot(db: Sql, place: Place, id: string): Promise<SnapshotRow | undefined> {
  return snapshots(db, place).where('id', '=', id).executeTakeFirst();
}

/** The same, locked against a concurrent change until the transaction ends. */
export async function lockSnapshot(db: Sql, place: Place, id: string): Promise<SnapshotRow | undefined> {
  return snapshots(db, place).where('id', '=', id).forUpdate().executeTakeFirst();
}

export async function listSnapshots(
  db: Sql,
  place: Place,
  filter: SnapshotFilter,
): Promise<{ count: number; rows: SnapshotRow[] }> {
  let matching = snapshots(db, place);
  // All snapshots are taken by somebody's request.
  if (filter.planned) matching = matching.where(sql<boolean>`false`);
  if (filter.volumeId !== undefined) matching = matching.where('volume_id', '=', filter.volumeId);
  if (filter.instanceId !== undefined) {
    matching = matching.where(
      sql<boolean>`volume_id in (select volume_id from volume_attachments where instance_id = ${filter.instanceId})`,
    );
  }
  return pageWithCount(matching.orderBy('created_at', 'desc').orderBy('id', 'desc'), filter);
}
