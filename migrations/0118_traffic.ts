import { type Kysely, sql } from 'kysely';

/** Outgoing traffic is metered hour by hour, in the regions whose infrastructure counts it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table traffic_meters (
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
}
