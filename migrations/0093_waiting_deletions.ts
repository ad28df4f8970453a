import { type Kysely, sql } from 'kysely';

/** Deletions that wait for the task that holds what they delete. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table waiting_deletions (
      -- No reference: tasks are dropped by quarters.
      task_id uuid constraint waiting_deletions_pkey primary key,
      kind text not null,
      args jsonb not null,
      about jsonb not null,
      project_id bigint not null,
      region_id bigint not null,
      behind uuid not null,
      due_at timestamptz not null,
      worker_id uuid,
      claims integer not null default 0
    )`.execute(db);
  // A deletion that is asked for twice waits once. Arguments may be long, and a name may have become another thing's.
  await sql`
    create unique index waiting_deletions_once
      on waiting_deletions (project_id, region_id, kind, md5(args::text || about::text))`.execute(db);
  await sql`create index waiting_deletions_thing on waiting_deletions (lower(args ->> 0))`.execute(db);
  await sql`create index waiting_deletions_behind on waiting_deletions (behind)`.execute(db);
}
