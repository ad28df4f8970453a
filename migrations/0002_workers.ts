import { type Kysely, sql } from 'kysely';

/** Processes that work on tasks, so that the work of a dead one is noticed and taken over. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table worker_heartbeats (
      executor_id text primary key,
      host text not null,
      pid integer not null,
      started_at timestamptz not null default now(),
      beat_at timestamptz not null default now()
    )`.execute(db);
}
