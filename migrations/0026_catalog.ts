import { type Kysely, sql } from 'kysely';

/** The catalogue that all processes on the database share, and the processes that use it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // At most one row; none before the first start.
  await sql`
    create table catalog (
      single boolean not null default true,
      revision bigint not null,
      hash text not null,
      files text not null,
      origin text not null,
      applied_at timestamptz not null,
      constraint catalog_pkey primary key (single),
      constraint catalog_single check (single)
    )`.execute(db);
  // Rows of killed processes become stale and are soon deleted.
  await sql`
    create table catalog_readers (
      id uuid not null,
      host text not null,
      pid integer not null,
      revision bigint not null,
      -- One that it can't read, and why.
      refused bigint,
      problem text,
      seen_at timestamptz not null default now(),
      constraint catalog_readers_pkey primary key (id)
    )`.execute(db);
}
