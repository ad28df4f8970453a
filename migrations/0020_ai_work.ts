import { type Kysely, sql } from 'kysely';

/** Workers on AI tasks, what their engines can do, and which worker has which task. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table ai_workers (
      id uuid primary key,
      host text not null,
      pid integer not null,
      capabilities jsonb not null,
      started_at timestamptz not null default now(),
      beat_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    create table ai_task_runs (
      task_id uuid primary key references ai_tasks on delete cascade,
      client_id bigint not null,
      worker_id uuid not null,
      begun_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index ai_task_runs_by_client on ai_task_runs (client_id)`.execute(db);
  await sql`create index ai_task_runs_by_worker on ai_task_runs (worker_id)`.execute(db);
  // `retry_at`: not to be retried before; `losses`: how many workers died while working on it.
  await sql`
    alter table ai_tasks
      add column retry_at timestamptz,
      add column losses integer not null default 0 check (losses >= 0)`.execute(db);
  // The queue of all accounts in its order, and tasks that are old enough to delete. Both stay small in use.
  await sql`
    create index ai_tasks_waiting on ai_tasks (created_at, id)
      where status in ('PENDING', 'RECEIVED', 'RETRY')`.execute(db);
  await sql`
    create index ai_tasks_by_end on ai_tasks (completed_at) where completed_at is not null`.execute(db);
}
