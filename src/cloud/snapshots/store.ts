import { type Kysely, type Selectable, sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
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

function snapshots(db: Kysely<Tables>, place: Place) {
  return db
    .selectFrom('snapshots')
    .selectAll()
    .where('project_id', '=', place.projectId)
    .where('region_id', '=', place.regionId);
}

export async function findSnapshot(
  db: Kysely<Tables>,
  place: Place,
  id: string,
): Promise<SnapshotRow | undefined> {
  return snapshots(db, place).where('id', '=', id).executeTakeFirst();
}

/** The same, locked against a concurrent change until the transaction ends. */
export async function lockSnapshot(
  db: Kysely<Tables>,
  place: Place,
  id: string,
): Promise<SnapshotRow | undefined> {
  return snapshots(db, place).where('id', '=', id).forUpdate().executeTakeFirst();
}

export async function listSnapshots(
  db: Kysely<Tables>,
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

/** Up to `limit` volumes that are to be filled from one of the snapshots, and aren't there yet. */
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
