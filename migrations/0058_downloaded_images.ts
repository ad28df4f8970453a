import { type Kysely, sql } from 'kysely';

/** Images from an address: nobody may know their size, and volumes may share their data. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table images drop constraint images_saved`.execute(db);
  await sql`alter table images add column cow_format boolean not null default false`.execute(db);
}
