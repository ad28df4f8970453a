import { type Selectable, sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import type { EventTables } from './tables.ts';

export type EventRow = Selectable<EventTables['events']>;

/** Returns the next events of all accounts, with the number of the oldest transaction that has not ended. */
export async function readNext(
  db: Sql,
  after: number,
  limit: number,
): Promise<{ rows: EventRow[]; oldest: bigint }> {
  const { rows } = await sql<EventRow & { oldest: string }>`
    select events.*, pg_snapshot_xmin(pg_current_snapshot())::text as oldest
    from events where position > ${after} order by position limit ${limit}`.execute(db);
  return {
    rows: rows.map(({ oldest: _, ...row }) => row),
    oldest: BigInt(rows[0]?.oldest ?? 0),
  };
}

/** Returns the largest position that can be seen. */
export async function newest(db: Sql): Promise<number> {
  const { rows } = await sql<{ position: number }>`
    select coalesce((select max(position) from events), (select position from forgotten_events)) as position`.execute(
    db,
  );
  return rows[0]?.position ?? 0;
}

/** Returns between which positions a reader has missed nothing. */
export async function readable(db: Sql): Promise<{ from: number; to: number }> {
  const { rows } = await sql<{ from: number; to: number }>`
    select position as "from", (select last_value from events_position) as "to" from forgotten_events`.execute(
    db,
  );
  return rows[0] ?? { from: 0, to: 0 };
}

/** What an index can answer; all accounts and subjects without it. */
export interface Narrowed {
  clientId: number | undefined;
  subjects: readonly string[] | undefined;
}

export async function readBetween(
  db: Sql,
  { clientId, subjects }: Narrowed,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<EventRow[]> {
  let events = db
    .selectFrom('events')
    .selectAll()
    .where('position', '>', after)
    .where('position', '<=', upTo);
  if (clientId !== undefined) events = events.where('client_id', '=', clientId);
  if (subjects !== undefined) events = events.where('subject', 'in', subjects);
  return events.orderBy('position').limit(limit).execute();
}

/**
 * Deletes the oldest events from before that time, and notes how far. What a reader still needs is kept until `latest`.
 * Returns how many were deleted.
 */
export async function deleteOldest(
  db: Sql,
  { before, latest, limit }: { before: Date; latest: Date; limit: number },
): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with oldest as materialized (select position, "time" from events order by position limit ${limit}), needed as (
      select min(position) as after from event_readers where active
    ), gone as (
      delete from events using oldest, needed
      where events.position = oldest.position and oldest."time" < ${before}
        and (needed.after is null or oldest.position <= needed.after or oldest."time" < ${latest})
      returning events.position
    ), noted as (
      update forgotten_events set position = greatest(forgotten_events.position, gone.position)
      from (select max(position) as position from gone) as gone where gone.position is not null
    )
    select count(*)::integer as deleted from gone`.execute(db);
  return rows[0]?.deleted ?? 0;
}
