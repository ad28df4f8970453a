import { type Kysely, sql } from 'kysely';

/** Regions and backends that take in nothing new for a while. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table maintenances (
      id bigint generated always as identity constraint maintenances_pkey primary key,
      region_id bigint,
      backend text,
      reason text not null,
      created_by bigint not null,
      created_at timestamptz not null,
      begun_in bigint not null default pg_current_xact_id()::text::bigint,
      constraint maintenances_one check (num_nonnulls(region_id, backend) = 1),
      constraint maintenances_once unique nulls not distinct (region_id, backend)
    )`.execute(db);
}
