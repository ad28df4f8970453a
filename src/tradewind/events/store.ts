import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Database, Sql } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import type { Clock } from '../../lib/time.ts';
import { ADMINISTRATIVE } from '../../requests/event-types.ts';

export type EventRow = Selectable<Tables['events']>;

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
    select position as "from", (select last_value from events_position) as "to" from forgotten_events`.execute(db);
  return rows[0] ?? { from: 0, to: 0 };
}

export interface Span {
  after: number;
  upTo: number;
  limit: number;
}

/** Returns the next events of all accounts. */
export async function readBetween(db: Sql, { after, upTo, limit }: Span): Promise<EventRow[]> {
  return db
    .selectFrom('events')
    .selectAll()
    .where('position', '>', after)
    .where('position', '<=', upTo)
    .orderBy('position')
    .limit(limit)
    .execute();
}

/** What a listener wants; everything by default. */
export interface Wanted {
  clientId: number | undefined;
  subjects: readonly string[] | undefined;
  projects: readonly number[] | undefined;
  /** Types, or with a star at the end all that begin so. */
  types: readonly string[] | undefined;
  /** Whether what is only for administrators is wanted as well. */
  administers: boolean;
}

/** How many events one statement looks through, so that it takes a moment, whatever is wanted of them. */
const MOST_LOOKED_THROUGH = 5_000;

/**
 * Returns the next events that are wanted, how far that is, and the last position that is not kept any more. There may be more
 * events in the span than were looked through.
 */
export async function readWanted(
  db: Sql,
  wanted: Wanted,
  { after, upTo, limit }: Span,
): Promise<{ events: EventRow[]; upTo: number; forgotten: number }> {
  // Indexes find these; what remains of the filter only looks at what they find.
  const found = sql.join(
    [
      sql`position > ${after} and position <= ${upTo}`,
      ...(wanted.clientId === undefined ? [] : [sql`client_id = ${wanted.clientId}`]),
      ...(wanted.subjects ? [sql`subject = any(${wanted.subjects})`] : []),
    ],
    sql` and `,
  );
  const { rows } = await sql<EventRow & { bound: number; forgotten: number }>`
    with bounded as materialized (
      select coalesce((
        select position from events where ${found}
        order by position offset ${sql.lit(MOST_LOOKED_THROUGH - 1)} limit 1
      ), ${upTo}::bigint) as bound
    )
    select wanted.*, bound, forgotten_events.position as forgotten
    from forgotten_events
    cross join bounded
    left join lateral (
      select * from events where ${found} and position <= bound and ${remaining(wanted)}
      order by position limit ${limit}
    ) as wanted on true
    order by wanted.position`.execute(db);
  const events = rows.flatMap(({ bound: _, forgotten: __, ...row }) => (row.position === null ? [] : [row]));
  const { bound = upTo, forgotten = 0 } = rows[0] ?? {};
  return { events, upTo: events.length < limit ? bound : (events.at(-1)?.position ?? bound), forgotten };
}

function remaining({ projects, types, administers }: Wanted): RawBuilder<boolean> {
  const beginnings = types?.filter((type) => type.endsWith('*')).map((type) => type.slice(0, -1));
  const conditions = [
    sql`true`,
    ...(projects ? [sql`project_id = any(${projects})`] : []),
    ...(types ? [sql`(type = any(${types}) or type ^@ any(${beginnings}))`] : []),
    ...(administers ? [] : [sql`split_part(type, '.', 2) <> all(${[...ADMINISTRATIVE]})`]),
  ];
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/**
 * Deletes the oldest events from before that time, and notes how far. What a reader still needs is kept until `latest`.
 * Returns how many were deleted.
 */
export async function deleteOldest(db: Sql, { before, latest, limit }: { before: Date; latest: Date; limit: number }) {
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

/** How long a reader may be away and miss nothing. */
export const HISTORY_HOURS = 24;
/** How long a durable reader, such as that of webhooks, may be away. */
const LATEST_HOURS = 7 * 24;
const BATCH = 1_000;

/** Deletes all of them, in batches. */
export async function forgetOldEvents({ sql }: Pick<Database, 'sql'>, clock: Clock): Promise<void> {
  const ago = (hours: number) => new Date(clock.now().getTime() - hours * 3_600_000);
  const old = { before: ago(HISTORY_HOURS), latest: ago(LATEST_HOURS), limit: BATCH };
  while ((await deleteOldest(sql, old)) === BATCH);
}

/** Returns by the name of each durable reader how old the first event is that it has not read, in seconds; 0 for none. */
export async function readerLags(db: Sql): Promise<{ name: string; seconds: number }[]> {
  const { rows } = await sql<{ name: string; seconds: number }>`
    select name, greatest(coalesce(extract(epoch from now() - first_unread."time"), 0), 0)::float8 as seconds
    from event_readers left join lateral (
      select "time" from events where events.position > event_readers.position order by events.position limit 1
    ) as first_unread on true
    where active`.execute(db);
  return rows;
}
