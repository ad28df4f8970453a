import { type Kysely, sql } from 'kysely';

/** Outgoing traffic is metered hour by hour, in the regions whose infrastructure counts it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table traffic_meters (
      region_id bigint constraint traffic_meters_pkey primary key,
      metered_until timestamptz not null,
      hour_ends timestamptz constraint traffic_meters_hour check (hour_ends > metered_until),
      after_id uuid,
      taken_until timestamptz
    )`.execute(db);
  await sql`comment on table traffic_meters is 'How far the outgoing traffic of regions is metered.'`.execute(db);
  for (const [column, text] of Object.entries({
    metered_until: 'Everything before it is metered.',
    hour_ends: 'The end of what is metered now. Null between two hours.',
    after_id: 'The last machine that is metered for it.',
    taken_until: 'Until when a worker has the region. Another goes on then.',
  }))
    await sql`comment on column traffic_meters.${sql.ref(column)} is ${sql.lit(text)}`.execute(db);
  await sql`
    comment on table usage_periods is 'Triggers write the rows in the transactions of changes. Workers write those of traffic, one for each port and day. A period that has ended never changes, except one of traffic until its day is closed.'`.execute(
    db,
  );
  await sql`comment on column usage_periods.amount is 'GiB for things with a size, bytes for traffic, otherwise 1.'`.execute(
    db,
  );
}
