import { type Kysely, sql } from 'kysely';

/** Placement groups of clients, one for each pool that has a policy, and where simulated machines run. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table server_groups (
      id uuid constraint server_groups_pkey primary key,
      project_id bigint not null constraint server_groups_project references projects,
      region_id bigint not null,
      name text not null,
      policy text not null constraint server_groups_policy
        check (policy in ('affinity', 'anti-affinity', 'soft-anti-affinity')),
      pool_id uuid constraint server_groups_one_per_pool unique
        constraint server_groups_pool references kubernetes_pools on delete cascade,
      task_id uuid,
      created_at timestamptz not null
    )`.execute(db);
  await sql`create index server_groups_newest on server_groups (project_id, region_id, created_at, id)`.execute(db);
  await sql`create index server_groups_task on server_groups (task_id) where task_id is not null`.execute(db);
  // Nodes are members by their pool.
  await sql`
    create table server_group_members (
      instance_id uuid constraint server_group_members_pkey primary key
        constraint server_group_members_instance references instances on delete cascade,
      server_group_id uuid not null constraint server_group_members_group references server_groups
    )`.execute(db);
  await sql`create index server_group_members_of_group on server_group_members (server_group_id)`.execute(db);
  await sql`
    create table simulated_hosts (
      machine_id uuid constraint simulated_hosts_pkey primary key,
      server_group_id uuid,
      host integer not null
    )`.execute(db);
  await sql`create index simulated_hosts_of_group on simulated_hosts (server_group_id)`.execute(db);
  // Pools of the release before have a policy and no group. There are few pools.
  await sql`
    insert into server_groups (id, project_id, region_id, name, policy, pool_id, created_at)
    select gen_random_uuid(), project_id, region_id, clusters.name || '-' || pools.name, servergroup_policy, pools.id,
      pools.created_at
    from kubernetes_pools as pools join kubernetes_clusters as clusters on clusters.id = cluster_id
    where servergroup_policy is not null`.execute(db);
  await sql`
    insert into quota_usage (client_id, region_id, attribute, used)
    select client_id, region_id, 'servergroup_count', count(*)
    from server_groups join projects on projects.id = project_id group by client_id, region_id`.execute(db);
}
