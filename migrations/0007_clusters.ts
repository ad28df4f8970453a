import { type Kysely, sql } from 'kysely';

/** Kubernetes clusters and their pools, and the simulated infrastructure's own data about them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table kubernetes_clusters (
      id uuid primary key,
      project_id bigint not null references projects,
      region_id bigint not null,
      name text not null,
      version text not null,
      keypair text not null,
      status text not null check (status in ('Provisioning', 'Provisioned', 'Deleting')),
      vast_nfs_enabled boolean not null,
      fixed_network text,
      fixed_subnet text,
      is_ipv6 boolean not null,
      pods_ip_pool text not null,
      services_ip_pool text not null,
      pods_ipv6_pool text,
      services_ipv6_pool text,
      configuration jsonb not null,
      next_configuration jsonb,
      creator_task_id uuid not null,
      task_id uuid,
      created_at timestamptz not null,
      constraint kubernetes_clusters_name unique (project_id, region_id, name),
      check (status = 'Provisioned' or task_id is not null)
    )`.execute(db);
  await sql`
    create index kubernetes_clusters_by_age
      on kubernetes_clusters (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`
    create index kubernetes_clusters_by_file_share
      on kubernetes_clusters ((configuration #>> '{add_ons,slurm,file_share_id}'))`.execute(db);
  await sql`
    create index kubernetes_clusters_by_next_file_share
      on kubernetes_clusters ((next_configuration #>> '{add_ons,slurm,file_share_id}'))
      where next_configuration is not null`.execute(db);
  await sql`
    create table kubernetes_pools (
      id uuid primary key,
      cluster_id uuid not null references kubernetes_clusters on delete cascade,
      position integer not null,
      name text not null,
      flavor_id text not null,
      min_node_count integer not null check (min_node_count >= 1),
      max_node_count integer not null check (max_node_count >= min_node_count),
      node_count integer not null check (node_count >= 0),
      boot_volume_size integer check (boot_volume_size > 0),
      boot_volume_type text,
      servergroup_policy text check (servergroup_policy in ('affinity', 'anti-affinity', 'soft-anti-affinity')),
      auto_healing_enabled boolean not null,
      is_public_ipv4 boolean not null,
      labels jsonb not null,
      taints jsonb not null,
      crio_config jsonb not null,
      kubelet_config jsonb not null,
      created_at timestamptz not null,
      constraint kubernetes_pools_name unique (cluster_id, name)
    )`.execute(db);
  await sql`
    create table kubernetes_pool_security_groups (
      pool_id uuid not null references kubernetes_pools on delete cascade,
      security_group_id uuid not null,
      position integer not null,
      primary key (pool_id, security_group_id),
      constraint kubernetes_pool_security_groups_group foreign key (security_group_id) references security_groups
    )`.execute(db);
  await sql`
    create index kubernetes_pool_security_groups_by_group
      on kubernetes_pool_security_groups (security_group_id)`.execute(db);
  // No reference to kubernetes_clusters: the simulated infrastructure represents something outside of
  // Tradewind.
  await sql`
    create table simulated_clusters (
      cluster_id uuid primary key,
      phase text not null check (phase in ('building', 'ready', 'changing', 'deleting')),
      version text not null,
      pools jsonb not null,
      settings jsonb not null,
      revision integer not null
    )`.execute(db);
  await sql`
    create table simulated_cluster_operations (
      key text primary key,
      cluster_id uuid not null references simulated_clusters on delete cascade,
      operation text not null,
      detail text,
      revision integer not null,
      applied_at timestamptz not null,
      unique (cluster_id, revision)
    )`.execute(db);
}
