import { type Kysely, sql } from 'kysely';

/**
 * API tokens may be good for one project, for some operations and from some addresses only. The secret of such a token is
 * compared with `bound_secret_hash`: the previous release, which knows no bounds, lets nobody in with it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_tokens
      add column project_id bigint,
      add column operations text[],
      add column address_ranges text[],
      add column bound_secret_hash bytea`.execute(db);
}
