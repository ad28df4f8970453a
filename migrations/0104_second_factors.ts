import { type Kysely, sql } from 'kysely';

/** What users show besides their passwords, and logins that wait for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table second_factors (
      id uuid not null constraint second_factors_pkey primary key,
      user_id bigint not null constraint second_factors_user references users on delete cascade,
      kind text not null constraint second_factors_kind check (kind in ('totp', 'passkey')),
      name text not null,
      secret text,
      last_step bigint,
      credential_id text constraint second_factors_credential unique,
      public_key bytea,
      counter bigint,
      transports text[],
      created_at timestamptz not null,
      confirmed_at timestamptz,
      last_used_at timestamptz,
      constraint second_factors_parts check (
        kind = 'totp' or credential_id is not null and public_key is not null and counter is not null)
    )`.execute(db);
  await sql`comment on column second_factors.secret is 'Of an app that makes codes. Encrypted; null if it was lost, and then no code is right.'`.execute(
    db,
  );
  await sql`
    comment on column second_factors.last_step is 'The time step of the last accepted code: neither it nor an earlier one is accepted again.'`.execute(
    db,
  );
  await sql`
    comment on column second_factors.confirmed_at is 'Null until the first code: it is no factor before.'`.execute(db);
  await sql`create index second_factors_of_user on second_factors (user_id)`.execute(db);
  await sql`create unique index second_factors_totp on second_factors (user_id) where kind = 'totp'`.execute(db);
  await sql`
    create table recovery_codes (
      user_id bigint not null constraint recovery_codes_user references users on delete cascade,
      hash bytea not null,
      constraint recovery_codes_pkey primary key (user_id, hash)
    )`.execute(db);
  await sql`
    create table sign_in_challenges (
      hash bytea not null constraint sign_in_challenges_pkey primary key,
      user_id bigint not null constraint sign_in_challenges_user references users on delete cascade,
      purpose text not null
        constraint sign_in_challenges_purpose check (purpose in ('log_in', 'enrol', 'add_passkey')),
      password_version bytea,
      passkey_challenge text,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`
    comment on column sign_in_challenges.password_version is 'A hash of the hash of the password that was given: another password makes it worthless.'`.execute(
    db,
  );
  await sql`create index sign_in_challenges_of_user on sign_in_challenges (user_id, expires_at)`.execute(db);
  await sql`create index sign_in_challenges_expiry on sign_in_challenges (expires_at)`.execute(db);
  await sql`alter table login_attempts add column auth_type text not null default 'password'`.execute(db);
}
