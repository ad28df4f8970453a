import { type Kysely, sql } from 'kysely';

/** Deletions of accounts and of projects with everything in them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table deletions (
      -- No reference: tasks are dropped by quarters.
      task_id uuid constraint deletions_pkey primary key,
      client_id bigint not null constraint deletions_client references clients,
      -- Null if the account itself goes.
      project_id bigint,
      -- What is still there, for people.
      steps jsonb not null default '[]',
      worker_id uuid,
      -- How often a worker has begun with it.
      claims integer not null default 0,
      begun_at timestamptz not null,
      ended_at timestamptz
    )`.execute(db);
  await sql`
    create unique index deletions_of_projects on deletions (project_id)
      where ended_at is null and project_id is not null`.execute(db);
  await sql`
    create unique index deletions_of_clients on deletions (client_id)
      where ended_at is null and project_id is null`.execute(db);
  // For the reference.
  await sql`create index deletions_by_client on deletions (client_id)`.execute(db);
  await sql`create index deletions_open on deletions (begun_at) where ended_at is null`.execute(db);
  await sql`create index deletions_ended on deletions (ended_at) where ended_at is not null`.execute(db);
  await sql`
    create table deletion_confirmations (
      client_id bigint constraint deletion_confirmations_pkey primary key
        constraint deletion_confirmations_client references clients,
      user_id bigint not null,
      confirmation text not null,
      expires_at timestamptz not null
    )`.execute(db);
  // Set while the project is deleted with everything in it: nothing new is taken in.
  await sql`alter table projects add column deletion_task_id uuid`.execute(db);
  await sql`alter table resellers add column deleted_at timestamptz`.execute(db);
}
