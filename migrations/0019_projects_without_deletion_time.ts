import { type Kysely, sql } from 'kysely';

/** Deleted projects have their own table, so none in this one has a deletion time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index projects_by_name`.execute(db);
  await sql`alter table projects drop column deleted_at`.execute(db);
  await sql`create unique index projects_by_name on projects (client_id, name)`.execute(db);
}
