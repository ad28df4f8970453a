import { type Kysely, sql } from 'kysely';

/** How far the removal of old rows has come, by the database's clock. One row. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table removal_time (until timestamptz not null)`.execute(db);
  await sql`insert into removal_time select now()`.execute(db);
}
