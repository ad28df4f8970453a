import { type Kysely, sql } from 'kysely';

/**
 * For the pages of mailed links. The person who asks to delete an account confirms it with a token. The receivers of a
 * notification setting end its mails with a key; it allows nothing else, so it isn't encrypted.
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
