import { type Kysely, sql } from 'kysely';

/** Policies that take snapshots of volumes by schedules. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table lifecycle_policies (
      id bigint generated always as identity constraint lifecycle_policies_pkey primary key,
      -- They go with their project, like other settings.
      project_id bigint not null constraint lifecycle_policies_project references projects on delete cascade,
      region_id bigint not null,
      name text not null,
      status text not null constraint lifecycle_policies_status check (status in ('active', 'paused')),
      user_id bigint not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      revision bigint not null default 1
    )`.execute(db);
  await sql`
    create index lifecycle_policies_of_place on lifecycle_policies (project_id, region_id, id)`.execute(db);
  await sql`
    create table lifecycle_policy_volumes (
      policy_id bigint not null constraint lifecycle_policy_volumes_policy
        references lifecycle_policies on delete cascade,
      volume_id uuid not null constraint lifecycle_policy_volumes_volume references volumes on delete cascade,
      constraint lifecycle_policy_volumes_pkey primary key (policy_id, volume_id)
    )`.execute(db);
  // For the reference.
  await sql`create index lifecycle_policy_volumes_by_volume on lifecycle_policy_volumes (volume_id)`.execute(db);
  await sql`
    create table snapshot_schedules (
      id uuid not null constraint snapshot_schedules_pkey primary key,
      policy_id bigint not null constraint snapshot_schedules_policy references lifecycle_policies on delete cascade,
      -- Whose snapshots they are, and the account in whose name they acted.
      user_id bigint not null,
      user_client_id bigint not null,
      -- When it is due, as the API shows it.
      timing jsonb not null,
      max_quantity integer not null constraint snapshot_schedules_quantity check (max_quantity > 0),
      retention jsonb,
      resource_name_template text not null,
      created_at timestamptz not null,
      revision bigint not null default 1
    )`.execute(db);
  await sql`create index snapshot_schedules_of_policy on snapshot_schedules (policy_id, created_at, id)`.execute(db);
  for (const table of ['lifecycle_policies', 'snapshot_schedules']) {
    await sql`
      create trigger raise_revision before update on ${sql.id(table)}
        for each row execute function raise_revision()`.execute(db);
  }
  await sql`
    create table snapshot_turns (
      schedule_id uuid not null constraint snapshot_turns_schedule references snapshot_schedules on delete cascade,
      -- No reference: whoever deletes the volume need not wait for the turn.
      volume_id uuid not null,
      -- When the next snapshot is planned, and when it is tried; both null while the policy is paused.
      due_at timestamptz,
      try_at timestamptz,
      -- When to look for snapshots that are kept long enough; null if there are none.
      prune_at timestamptz,
      -- The last snapshot, until it is ready.
      made_id uuid,
      -- Of the snapshot that is tried now.
      attempts integer not null default 0,
      problem text,
      problem_since timestamptz,
      -- Whether the oldest snapshot has to go before the next one fits into the quota.
      make_room boolean not null default false,
      constraint snapshot_turns_pkey primary key (schedule_id, volume_id)
    )`.execute(db);
  await sql`create index snapshot_turns_due on snapshot_turns (try_at) where try_at is not null`.execute(db);
  await sql`create index snapshot_turns_prune on snapshot_turns (prune_at) where prune_at is not null`.execute(db);
  await sql`
    create table scheduled_snapshots (
      snapshot_id uuid not null constraint scheduled_snapshots_pkey primary key
        constraint scheduled_snapshots_snapshot references snapshots on delete cascade,
      -- No reference: snapshots outlive their schedule.
      schedule_id uuid not null,
      policy_id bigint not null,
      volume_id uuid not null,
      made_at timestamptz not null
    )`.execute(db);
  await sql`
    create index scheduled_snapshots_of_turn on scheduled_snapshots (schedule_id, volume_id, made_at)`.execute(db);
  await sql`create index scheduled_snapshots_of_policy on scheduled_snapshots (policy_id)`.execute(db);
}
