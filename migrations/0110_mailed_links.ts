import { type Kysely, sql } from 'kysely';

/**
 * What pages behind mailed links need: a request to delete an account is confirmed by its mail, and whoever gets mails of a
 * setting can end that without an account. With the key nobody can do anything else, so it is kept as it is.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table deletion_requests
      add column secret_hash bytea,
      add column confirm_until timestamptz,
      add column confirmed_at timestamptz`.execute(db);
  await sql`
    alter table notification_settings
      add column key text not null default replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')`.execute(
    db,
  );
}
