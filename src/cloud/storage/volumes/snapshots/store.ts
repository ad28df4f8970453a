import { type Selectable, sql } from 'kysely';
import type { Sql, Transaction } from '../../../../db/database.ts';
import { pageWithCount } from '../../../../db/page.ts';
import { isIn, type Place } from '../../../../db/place.ts';
import type { Tables } from '../../../../db/tables.ts';
import type { Page } from '../../../../lib/page.ts';
import type { SnapshotListQuery } from './schema.ts';

export type SnapshotRow = Selectable<Tables['snapshots']>;

function snapshots(db: Sql, place: Place) {
  return db.selectFrom('snapshots').selectAll().where(isIn(place));
}

export async function findSnapshot(db: Sql, place: Place, id: string): Promise<SnapshotRow | undefined> {
  return snapshots(db, place).where('id', '=', id).executeTakeFirst();
}

/** Returns the snapshot, locked against concurrent changes until the transaction ends. */
export async function lockSnapshot(db: Sql, place: Place, id: string): Promise<SnapshotRow | undefined> {
  return snapshots(db, place).where('id', '=', id).forUpdate().executeTakeFirst();
}

export async function listSnapshots(
  db: Sql,
  place: Place,
  query: SnapshotListQuery,
): Promise<Page<SnapshotRow>> {
  let matching = snapshots(db, place);
  const planned = query.schedule_id !== undefined || query.lifecycle_policy_id !== undefined;
  // Every snapshot was taken by a request; schedules and lifecycle policies don't exist.
  if (planned) matching = matching.where(sql<boolean>`false`);
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
