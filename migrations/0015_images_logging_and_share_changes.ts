import { type Kysely, sql } from 'kysely';

/** Images of projects, log topics, and changes of file shares. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table images (
      id uuid primary key,
      project_id bigint not null references projects,
      region_id bigint not null,
      name text not null,
      status text not null check (status in ('saving', 'active', 'pending_delete')),
      os_type text not null check (os_type in ('linux', 'windows')),
      -- What the volume was made from says them; null when nobody knows.
      os_distro text,
      os_version text,
      architecture text not null check (architecture in ('aarch64', 'x86_64')),
      min_disk_gib integer not null check (min_disk_gib > 0),
      -- Null until it is there.
      size_bytes bigint check (size_bytes >= 0),
      is_baremetal boolean not null,
      ssh_key text not null check (ssh_key in ('allow', 'deny', 'required')),
      hw_firmware_type text not null check (hw_firmware_type in ('bios', 'uefi')),
      hw_machine_type text not null check (hw_machine_type in ('i440', 'q35')),
      tags jsonb not null,
      creator_task_id uuid not null,
      task_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint images_held check ((status = 'active') = (task_id is null)),
      constraint images_saved check (status = 'saving' or size_bytes is not null)
    )`.execute(db);
  await sql`create index images_by_age on images (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`create index images_by_tag on images using gin (tags)`.execute(db);
  await sql`
    create index volumes_downloading on volumes ((image_metadata ->> 'image_id'))
      where status = 'downloading'`.execute(db);

  await sql`
    create table logging_services (
      project_id bigint not null references projects,
      region_id bigint not null,
      namespace text not null check (namespace ~ '^[a-z0-9]{2,32}$'),
      -- What a log broker checks the user's password by (RFC 5803); null until a password was asked for.
      credential text,
      created_at timestamptz not null,
      primary key (project_id, region_id),
      constraint logging_services_namespace unique (region_id, namespace)
    )`.execute(db);
  await sql`
    create table logging_topics (
      project_id bigint not null,
      region_id bigint not null,
      name text not null check (length(name) between 1 and 223),
      -- Null keeps for ever.
      retention_days integer check (retention_days > 0),
      index_pattern_id text,
      size_in_bytes bigint not null check (size_in_bytes >= 0),
      primary key (project_id, region_id, name),
      foreign key (project_id, region_id) references logging_services
    )`.execute(db);

  await sql`alter table file_shares drop constraint file_shares_status_check`.execute(db);
  await sql`
    alter table file_shares add constraint file_shares_status_check
      check (status in ('available', 'creating', 'deleting', 'extending'))`.execute(db);
  // A task may change settings while the share stays available.
  await sql`alter table file_shares drop constraint file_shares_check3`.execute(db);
  await sql`
    alter table file_shares add constraint file_shares_held
      check (status = 'available' or task_id is not null)`.execute(db);
  await sql`create index file_shares_by_tag on file_shares using gin (tags)`.execute(db);
  await sql`create index file_shares_by_network on file_shares (network_id)`.execute(db);
  await sql`create index file_shares_by_subnet on file_shares (subnet_id)`.execute(db);
  // Not validated for existing rows: one of them may have outlived its network.
  await sql`
    alter table file_shares
      add constraint file_shares_network foreign key (network_id) references networks not valid,
      add constraint file_shares_subnet foreign key (subnet_id) references subnets not valid`.execute(db);
}
