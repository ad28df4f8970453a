import { type Kysely, sql } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

/** Outgoing traffic is metered hour by hour, in the regions whose infrastructure counts it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table if not exists traffic_meters (
      region_id bigint constraint traffic_meters_pkey primary key,
      -- Everything before it is metered.
      metered_until timestamptz not null,
      -- The end of what is metered now; null between two hours.
      hour_ends timestamptz constraint traffic_meters_hour check (hour_ends > metered_until),
      -- The last machine that is metered for it.
      after_id uuid,
      -- Until when a worker has it. It goes back if the worker dies.
      taken_until timestamptz
    )`.execute(db);
  // A port has one row for each day in UTC and each kind of machine: the hours are added to it.
  await createIndexConcurrently(
    db,
    'usage_periods_traffic',
    `usage_periods (resource_id, sku, ((started_at at time zone 'UTC')::date)) where type = 'egress_traffic'`,
    { unique: true },
  );
}
