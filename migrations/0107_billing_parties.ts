import { type Kysely, sql } from 'kysely';

/** Who issues invoices and who gets them, each from a time on: VAT depends on both. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // No references: both outlive whom they are about, as invoices do.
  await sql`
    create table issuer_settings (
      id bigint generated always as identity constraint issuer_settings_pkey primary key,
      -- 0 is the platform itself.
      reseller_id bigint not null,
      -- A full second.
      valid_from timestamptz not null,
      settings jsonb not null,
      created_by bigint not null,
      created_at timestamptz not null
    )`.execute(db);
  await sql`create index issuer_settings_by_time on issuer_settings (reseller_id, valid_from, id)`.execute(db);
  await sql`
    create table billing_profiles (
      id bigint generated always as identity constraint billing_profiles_pkey primary key,
      client_id bigint not null,
      valid_from timestamptz not null,
      profile jsonb not null,
      created_by bigint not null,
      created_at timestamptz not null
    )`.execute(db);
  await sql`create index billing_profiles_by_time on billing_profiles (client_id, valid_from, id)`.execute(db);
}
