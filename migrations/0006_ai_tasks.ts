import { type Kysely, sql } from 'kysely';

/**
 * AI tasks, with an index for each order and filter of their list, and a short history of changed tasks, with
 * which earlier counts are brought up to date.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Combines a number and the trigrams of a text in one index, so that searches never read other clients'
  // tasks.
  await sql`create extension if not exists btree_gin`.execute(db);
  await sql`
    create table ai_tasks (
      id uuid primary key,
      client_id bigint not null references clients,
      task_name text not null check (task_name in ('transcription', 'content-moderation')),
      status text not null
        check (status in ('FAILURE', 'PENDING', 'RECEIVED', 'RETRY', 'REVOKED', 'STARTED', 'SUCCESS')),
      progress integer not null default 0 check (progress between 0 and 100),
      retries integer not null default 0 check (retries between 0 and 3),
      task_data jsonb not null,
      search_text text not null,
      result jsonb,
      created_at timestamptz not null,
      created_day date not null generated always as ((created_at at time zone 'UTC')::date) stored,
      started_at timestamptz,
      completed_at timestamptz,
      constraint ai_tasks_completed
        check ((status in ('FAILURE', 'REVOKED', 'SUCCESS')) = (completed_at is not null)),
      constraint ai_tasks_started check (status not in ('STARTED', 'SUCCESS') or started_at is not null),
      constraint ai_tasks_succeeded check (status <> 'SUCCESS' or progress = 100),
      constraint ai_tasks_result check (result is null or status in ('FAILURE', 'SUCCESS'))
    )`.execute(db);
  const newest = sql`started_at desc nulls first, created_at desc, id desc`;
  await sql`create index ai_tasks_newest on ai_tasks (client_id, ${newest})`.execute(db);
  await sql`create index ai_tasks_by_status on ai_tasks (client_id, status, ${newest})`.execute(db);
  await sql`create index ai_tasks_by_name on ai_tasks (client_id, task_name, ${newest})`.execute(db);
  await sql`
    create index ai_tasks_by_name_and_status on ai_tasks (client_id, task_name, status, ${newest})`.execute(db);
  await sql`create index ai_tasks_by_day on ai_tasks (client_id, created_day, ${newest})`.execute(db);
  await sql`create index ai_tasks_by_creation on ai_tasks (client_id, created_at)`.execute(db);
  await sql`create index ai_tasks_by_id on ai_tasks (client_id, id)`.execute(db);
  await sql`
    create index ai_tasks_search on ai_tasks using gin (client_id, search_text gin_trgm_ops)
      with (gin_pending_list_limit = 256)`.execute(db);

  // A row per task and state: gained (1) or lost (-1). A row without a task means that too much changed:
  // count again.
  await sql`
    create table ai_task_changes (
      client_id bigint not null,
      xid xid8 not null default pg_current_xact_id(),
      task_id uuid,
      status text,
      sign smallint,
      noted_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index ai_task_changes_by_client on ai_task_changes (client_id, xid)`.execute(db);
  await sql`create index ai_task_changes_by_age on ai_task_changes (noted_at)`.execute(db);
  await sql`
    create function note_ai_task_changes() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        insert into ai_task_changes (client_id) select distinct client_id from removed;
      elsif (select count(*) from added) > 1000 then
        insert into ai_task_changes (client_id) select distinct client_id from added;
      elsif tg_op = 'INSERT' then
        insert into ai_task_changes (client_id, task_id, status, sign)
          select client_id, id, status, 1 from added;
      else
        insert into ai_task_changes (client_id, task_id, status, sign)
          select removed.client_id, removed.id, change.status, change.sign
          from removed join added using (id),
            lateral (values (removed.status, -1), (added.status, 1)) change (status, sign)
          where removed.status <> added.status;
      end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger ai_tasks_inserted after insert on ai_tasks referencing new table as added
      for each statement execute function note_ai_task_changes()`.execute(db);
  await sql`
    create trigger ai_tasks_updated after update on ai_tasks referencing old table as removed new table as added
      for each statement execute function note_ai_task_changes()`.execute(db);
  await sql`
    create trigger ai_tasks_deleted after delete on ai_tasks referencing old table as removed
      for each statement execute function note_ai_task_changes()`.execute(db);
}
