import { type Kysely, sql } from 'kysely';

/** API tokens may be good for one project, for some operations and from some addresses only. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_tokens
      add column project_id bigint,
      add column operations text[],
      add column address_ranges text[]`.execute(db);
}
