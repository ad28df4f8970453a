import { type Kysely, sql } from 'kysely';

/** People who work for a reseller, beside the administrator whom it has from the start. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users add column is_seller boolean not null default false`.execute(db);
}
