import { type Kysely, sql } from 'kysely';

/**
 * What access tokens name a login by, besides its number: a reset or a restored backup counts anew, and would give the
 * number to another login. Null for logins from before; they get one when they are refreshed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table login_sessions add column key uuid`.execute(db);
  // Only for new rows, so that no row is written again. The previous release leaves the column out.
  await sql`alter table login_sessions alter column key set default gen_random_uuid()`.execute(db);
}
