import { type Kysely, sql } from 'kysely';

/**
 * Lists of tasks show how many there are: with any filter they are counted in one index, however many tasks
 * others have.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index tasks_by_client`.execute(db);
  await sql`
    create index tasks_by_client on tasks (client_id, created_on desc, id desc)
      include (project_id, region_id, state, task_type, acknowledged_at)`.execute(db);
  // A project belongs to one account. Without this, the planner expects few tasks, and sorts all of them for
  // a page.
  await sql`create statistics tasks_places (dependencies) on client_id, project_id, region_id from tasks`.execute(db);
  await sql`analyze tasks`.execute(db);
}
