import { type Kysely, sql } from 'kysely';

/** The orders and filters of task lists, and a table for deleted projects. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index tasks_by_project on tasks (project_id, created_on desc, id desc)`.execute(db);
  // These contain few rows, so they add hardly any cost to a task.
  await sql`
    create index tasks_active on tasks (project_id, region_id, created_on desc, id desc)
      where state in ('NEW', 'RUNNING')`.execute(db);
  await sql`create index tasks_failed on tasks (client_id, created_on desc, id desc) where state = 'ERROR'`.execute(db);
  await sql`
    create index tasks_acknowledged on tasks (client_id, created_on desc, id desc)
      where acknowledged_at is not null`.execute(db);
  // A deleted project leaves its table. The foreign keys of everything in projects then guarantee that it
  // stays empty.
  await sql`
    create table deleted_projects (
      id bigint primary key,
      client_id bigint not null references clients,
      name text not null,
      description text,
      created_at timestamptz not null,
      deleted_at timestamptz not null
    )`.execute(db);
  await sql`create index deleted_projects_by_client on deleted_projects (client_id, created_at desc, id desc)`.execute(
    db,
  );
  await sql`create index projects_by_age on projects (client_id, created_at desc, id desc)`.execute(db);
}
