import { type Kysely, sql } from 'kysely';

/** Volumes, their attachments, and their snapshots. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table volumes (
      id uuid primary key,
      project_id bigint not null references projects,
      region_id bigint not null,
      name text not null,
      size_gib integer not null check (size_gib > 0),
      volume_type text not null check (volume_type in ('cold', 'ssd_hiiops', 'ssd_local', 'ssd_lowlatency', 'standard', 'ultra')),
      status text not null check (status in ('attaching', 'available', 'awaiting-transfer', 'backing-up', 'creating', 'deleting',
        'detaching', 'downloading', 'error', 'error_backing-up', 'error_deleting', 'error_extending', 'error_restoring',
        'extending', 'in-use', 'maintenance', 'reserved', 'restoring-backup', 'retyping', 'reverting', 'uploading')),
      bootable boolean not null,
      image_metadata jsonb,
      tags jsonb not null,
      creator_task_id uuid not null,
      task_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
  await sql`create index volumes_by_age on volumes (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`create index volumes_by_tag on volumes using gin (tags)`.execute(db);
  await sql`
    create table volume_attachments (
      id uuid primary key,
      volume_id uuid not null references volumes,
      instance_id uuid not null references instances,
      device text not null,
      attachment_tag text,
      delete_on_termination boolean not null,
      -- 0 boots first; null never boots.
      boot_index integer check (boot_index >= 0),
      -- Null until the attachment works.
      attached_at timestamptz,
      constraint volume_attachments_volume unique (volume_id),
      constraint volume_attachments_device unique (instance_id, device)
    )`.execute(db);
  await sql`
    create table snapshots (
      id uuid primary key,
      project_id bigint not null references projects,
      region_id bigint not null,
      name text not null,
      description text,
      volume_id uuid not null references volumes,
      size_gib integer not null check (size_gib > 0),
      volume_type text not null,
      status text not null check (status in ('available', 'backing-up', 'creating', 'deleted', 'deleting', 'error',
        'error_deleting', 'restoring', 'unmanaging')),
      tags jsonb not null,
      creator_task_id uuid not null,
      task_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
  await sql`create index snapshots_by_age on snapshots (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`create index snapshots_by_volume on snapshots (volume_id)`.execute(db);
}
