import { type Kysely, sql } from 'kysely';

/**
 * Seals say of themselves which one they follow, and their hash includes their times: what retention may have removed
 * is judged by them. `form` is that of the hash.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table audit_seals add column form smallint not null default 1, add column previous bytea`.execute(
    db,
  );
  // There are few yet: no release has made seals.
  await sql`
    update audit_seals as seal set previous = before.hash
    from audit_seals as before where before.number = seal.number - 1`.execute(db);
}
