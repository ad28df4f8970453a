import { type Kysely, sql } from 'kysely';

/**
 * What resellers pay the platform, beside what accounts pay their reseller. It has a table of its own: the release before
 * takes all of `price_lists` for what accounts pay. The IDs are of one series.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table wholesale_lists (
      id bigint not null default nextval('price_lists_id_seq') constraint wholesale_lists_pkey primary key,
      scope text not null,
      reseller_id bigint constraint wholesale_lists_reseller references resellers on delete cascade,
      -- A full second.
      valid_from timestamptz not null,
      terms jsonb not null,
      created_by bigint not null constraint wholesale_lists_maker references users,
      created_at timestamptz not null,
      constraint wholesale_lists_scope check (
        scope = 'everyone' and reseller_id is null or scope = 'reseller' and reseller_id is not null
      )
    )`.execute(db);
  await sql`create index wholesale_lists_by_time on wholesale_lists (valid_from, id)`.execute(db);
  await sql`create index wholesale_lists_by_scope on wholesale_lists (scope, valid_from, id)`.execute(db);
  await sql`
    create index wholesale_lists_of_reseller on wholesale_lists (reseller_id, valid_from, id)
      where reseller_id is not null`.execute(db);
}
