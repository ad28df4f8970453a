import { type Kysely, sql } from 'kysely';

/**
 * A seal names the one before it, and its hash includes its times, which show what retention may have removed. `form`
 * tells how the hash is made.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table audit_seals add column form smallint not null default 1, add column previous bytea`.execute(db);
  // There are few yet: no release has made seals.
  await sql`
    update audit_seals as seal set previous = before.hash
    from audit_seals as before where before.number = seal.number - 1`.execute(db);
}
