import { type Kysely, sql } from 'kysely';

/** Workers may be bound to regions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Null for all of them.
  await sql`alter table workers add column regions bigint[]`.execute(db);
}
