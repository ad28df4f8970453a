import { type Kysely, sql } from 'kysely';

/** The orders and filters of task lists, and where projects go when they are deleted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index tasks_by_project on tasks (project_id, created_on desc, id desc)`.execute(db);
  // Few rows are in these, so they cost a task nearly nothing.
  await sql`
    create index tasks_active on tasks (project_id, region_id, created_on desc, id desc)
      where state in ('NEW', 'RUNNING')`.execute(db);
  await sql`create index tasks_failed on tasks (client_id, created_on desc, id desc) where state = 'ERROR'`.execute(
    db,
  );
  await sql`
    create index tasks_acknowledged on tasks (client_id, created_on desc, id desc)
      where acknowledged_at is not null`.execute(db);
  // A deleted project leaves its table, so that the foreign keys of all that projects hold keep it empty for ever.
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
