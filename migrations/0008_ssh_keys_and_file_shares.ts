import { type Kysely, sql } from 'kysely';

/** SSH keys of projects, and file shares. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table ssh_keys (
      id uuid primary key,
      project_id bigint not null references projects,
      -- Who added it: one that isn't shared is this user's alone.
      user_id bigint not null references users,
      name text not null,
      public_key text not null,
      fingerprint text not null,
      shared_in_project boolean not null,
      created_at timestamptz not null,
      constraint ssh_keys_name unique (project_id, name)
    )`.execute(db);
  await sql`create index ssh_keys_by_age on ssh_keys (project_id, created_at desc, id desc)`.execute(db);
  await sql`
    create table file_shares (
      id uuid primary key,
      project_id bigint not null references projects,
      region_id bigint not null,
      name text not null,
      type_name text not null check (type_name in ('standard', 'vast')),
      protocol text not null check (protocol = 'NFS'),
      size_gib integer not null check (size_gib > 0),
      status text not null check (status in ('available', 'creating', 'deleting')),
      -- What a standard share is reached through, and by whom.
      network_id uuid,
      network_name text,
      subnet_id uuid,
      subnet_name text,
      access jsonb not null,
      -- Settings that only VAST shares have.
      root_squash boolean,
      path_length text check (path_length in ('LCD', 'NPL')),
      allowed_characters text check (allowed_characters in ('LCD', 'NPL')),
      connection_point text,
      tags jsonb not null,
      creator_task_id uuid not null,
      task_id uuid,
      created_at timestamptz not null,
      check ((type_name = 'standard') = (network_id is not null)),
      check ((type_name = 'vast') = (root_squash is not null)),
      check (status = 'creating' or connection_point is not null),
      check ((status = 'available') = (task_id is null))
    )`.execute(db);
  await sql`
    create index file_shares_by_age on file_shares (project_id, region_id, created_at desc, id desc)`.execute(db);
}
