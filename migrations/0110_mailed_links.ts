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
  const random = sql`replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')`;
  await sql`alter table notification_settings add column key text`.execute(db);
  await sql`alter table notification_settings alter column key set default ${random}`.execute(db);
  await sql`update notification_settings set key = ${random}`.execute(db);
}
