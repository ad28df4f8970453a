import { type Kysely, sql } from 'kysely';

/** The nodes of pools, which are instances, and the security group that a cluster's nodes share. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // No cascade: a pool is deleted after its nodes, whose ports and volumes are deleted first.
  await sql`alter table instances add column pool_id uuid references kubernetes_pools`.execute(db);
  await sql`
    create index instances_by_pool on instances (pool_id, created_at desc, id desc)
      where pool_id is not null`.execute(db);
  await sql`
    create index instances_held_nodes on instances (task_id)
      where pool_id is not null and task_id is not null`.execute(db);
  // The cluster whose nodes are automatically in the group. If others use the group when the cluster is
  // deleted, it stays.
  await sql`
    alter table security_groups
      add column cluster_id uuid references kubernetes_clusters on delete set null`.execute(db);
  await sql`
    create unique index security_groups_of_cluster on security_groups (cluster_id)
      where cluster_id is not null`.execute(db);
  // Rises with every change of a pool's settings, so that an older change never overtakes a newer one.
  await sql`alter table kubernetes_pools add column revision integer not null default 0`.execute(db);
  await sql`alter table simulated_clusters add column pool_settings jsonb not null default '{}'`.execute(db);
}
