import { type Kysely, sql } from 'kysely';

/** Single sign-on by OpenID Connect: who vouches for people, whom they have vouched for, and sign-ins that have begun. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table identity_providers (
      id uuid not null constraint identity_providers_pkey primary key,
      client_id bigint constraint identity_providers_client references clients,
      reseller_id bigint constraint identity_providers_reseller references resellers,
      created_by bigint not null constraint identity_providers_maker references users,
      name text not null,
      issuer text not null,
      oidc_client_id text not null,
      oidc_client_secret text,
      scopes text[] not null,
      groups_claim text not null,
      groups jsonb not null,
      default_role_id integer,
      email_domains text[] not null,
      enabled boolean not null,
      required boolean not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      revision bigint not null default 1,
      constraint identity_providers_owner check (num_nonnulls(client_id, reseller_id) = 1),
      constraint identity_providers_account_only check (
        client_id is not null or default_role_id is null and not required)
    )`.execute(db);
  await sql`
    comment on column identity_providers.oidc_client_secret is 'Encrypted. Null if there is none, or if it was lost.'`.execute(
    db,
  );
  await sql`
    comment on column identity_providers.groups is 'A list of {group, role_id, client_id}: what members of a group are, in which account.'`.execute(
    db,
  );
  await sql`
    create trigger raise_revision before update on identity_providers
      for each row execute function raise_revision()`.execute(db);
  await sql`create index identity_providers_of_client on identity_providers (client_id, id)`.execute(db);
  await sql`create index identity_providers_of_reseller on identity_providers (reseller_id, id)`.execute(db);
  await sql`
    create table identities (
      provider_id uuid not null constraint identities_provider references identity_providers on delete cascade,
      subject text not null,
      user_id bigint not null constraint identities_user references users on delete cascade,
      shut_in bigint[] not null default '{}',
      created_at timestamptz not null,
      last_used_at timestamptz,
      constraint identities_pkey primary key (provider_id, subject)
    )`.execute(db);
  await sql`
    comment on column identities.shut_in is 'Accounts that the user lost with the groups. Those that an administrator blocked are not among them.'`.execute(
    db,
  );
  await sql`create unique index identities_of_user on identities (user_id, provider_id)`.execute(db);
  await sql`
    create table sign_in_states (
      hash bytea not null constraint sign_in_states_pkey primary key,
      provider_id uuid not null constraint sign_in_states_provider references identity_providers on delete cascade,
      browser_hash bytea not null,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index sign_in_states_expiry on sign_in_states (expires_at)`.execute(db);
  await sql`create index sign_in_states_of_provider on sign_in_states (provider_id, expires_at)`.execute(db);
  await sql`
    create table sign_in_codes (
      hash bytea not null constraint sign_in_codes_pkey primary key,
      provider_id uuid not null constraint sign_in_codes_provider references identity_providers on delete cascade,
      user_id bigint not null constraint sign_in_codes_user references users on delete cascade,
      client_id bigint not null constraint sign_in_codes_client references clients on delete cascade,
      browser_hash bytea not null,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index sign_in_codes_expiry on sign_in_codes (expires_at)`.execute(db);
  await sql`create index sign_in_codes_of_provider on sign_in_codes (provider_id)`.execute(db);
  await sql`create index sign_in_codes_of_user on sign_in_codes (user_id)`.execute(db);
  await sql`create index sign_in_codes_of_client on sign_in_codes (client_id)`.execute(db);
  await sql`alter table login_sessions add column provider_id uuid`.execute(db);
  await sql`
    comment on column login_sessions.provider_id is 'The identity provider that vouched for the user. The login is good only where that has a say.'`.execute(
    db,
  );
}
