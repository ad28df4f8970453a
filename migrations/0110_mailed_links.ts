import { type Kysely, sql } from 'kysely';

/**
 * Pages of mailed links need this. A token confirms the deletion of an account. A key ends the mails of a notification
 * setting; it allows nothing else, so it isn't encrypted.
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
