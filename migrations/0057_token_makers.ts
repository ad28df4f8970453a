import { type Kysely, sql } from 'kysely';

/** The account from which a token was made, if that isn't its own: the token ends with that account's rights. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_tokens add column maker_client_id bigint`.execute(db);
}
