import { type Kysely, sql } from 'kysely';

/** What resellers pay the platform, beside what accounts pay their reseller. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table price_lists add column price text not null default 'retail'
      constraint price_lists_price check (price in ('retail', 'wholesale'))`.execute(db);
}
