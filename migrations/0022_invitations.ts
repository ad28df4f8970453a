import { type Kysely, sql } from 'kysely';

/**
 * Invited users decide whether to join, and what an account decides about a user only applies in that
 * account.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table client_users add column is_active boolean not null default true`.execute(db);
  // So far, an account blocked its users everywhere. From now on, each of their accounts can unblock them
  // separately.
  await sql`
    update client_users set is_active = false from users
     where users.id = client_users.user_id and not users.is_active`.execute(db);
  await sql`update users set is_active = true where not is_active`.execute(db);
  await sql`
    alter table users
      -- Invited by the account in client_id and not there yet: nobody logs in with this row.
      add column pending boolean not null default false,
      add column auth_types text[] not null default '{password}'
        constraint users_auth_types_check check (auth_types <@ array['password', 'sso', 'github', 'google-oauth2']),
      -- Somebody else chose the password and may know it.
      add column password_given boolean not null default false,
      add column former_email text,
      add column email_changed_at timestamptz`.execute(db);
  await sql`
    update users set password_given = true
     where password_hash is not null and not platform_administrator`.execute(db);
  // Several accounts may invite the same address, even one that somebody logs in with.
  await sql`drop index users_by_email`.execute(db);
  await sql`
    create unique index users_by_email on users (lower(email))
      where deleted_at is null and not pending`.execute(db);
  await sql`
    create unique index users_by_invited_email on users (client_id, lower(email))
      where deleted_at is null and pending`.execute(db);
  await sql`
    create table invitations (
      user_id bigint primary key constraint invitations_user_id_fkey references users,
      client_id bigint not null constraint invitations_client_id_fkey references clients,
      -- SHA-256 of the secret that whoever joins has to bring.
      secret_hash bytea not null,
      invited_by bigint not null constraint invitations_invited_by_fkey references users,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      -- Accepted or withdrawn.
      ended_at timestamptz
    )`.execute(db);
  await sql`create index invitations_by_client on invitations (client_id, created_at)`.execute(db);
  await sql`create index users_invited on users (lower(email)) where deleted_at is null and pending`.execute(db);
}
