import { type Kysely, sql } from 'kysely';

/** Codes in addresses of the console: each signs its user in, once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table console_codes (
      hash bytea not null constraint console_codes_pkey primary key,
      user_id bigint not null constraint console_codes_user references users on delete cascade,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index console_codes_of_user on console_codes (user_id)`.execute(db);
}
