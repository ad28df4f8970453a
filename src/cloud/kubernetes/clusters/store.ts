import { type Insertable, type Selectable, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { isIn, type Place, type Sql, type Transaction, together } from '../../../db/database.ts';
import type { ClusterConfiguration } from '../../../db/json-columns.ts';
import { pageWithCount } from '../../../db/page.ts';
import { compiledQuery } from '../../../db/statements.ts';
import type { Tables } from '../../../db/tables.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';

export type PoolRow = Selectable<Tables['kubernetes_pools']> & {
  security_group_ids: string[];
  /** The placement group of its nodes. */
  servergroup_id: string | null;
  servergroup_name: string | null;
};
export type ClusterRow = Selectable<Tables['kubernetes_clusters']> & {
  pools: PoolRow[];
  kubeconfig_created_at: Date | null;
  kubeconfig_expires_at: Date | null;
};

/** Security groups of the row that the query calls `pool`. */
const groupIdsOfPool = sql<string[]>`array(
  select link.security_group_id from kubernetes_pool_security_groups link
  where link.pool_id = pool.id order by link.position)`.as('security_group_ids');

/** Selects clusters with their pools in one query. */
function clusters(db: Sql, place: Place) {
  return db
    .selectFrom('kubernetes_clusters')
    .selectAll()
    .select((cluster) =>
      jsonArrayFrom(
        cluster
          .selectFrom('kubernetes_pools as pool')
          .leftJoin('server_groups as placed', 'placed.pool_id', 'pool.id')
          .selectAll('pool')
          .select(['placed.id as servergroup_id', 'placed.name as servergroup_name'])
          .select(groupIdsOfPool)
          .whereRef('pool.cluster_id', '=', 'kubernetes_clusters.id')
          .orderBy('pool.position'),
      ).as('pools'),
    )
    .select((cluster) => {
      const made = cluster
        .selectFrom('kubernetes_credentials as made')
        .whereRef('made.cluster_id', '=', 'kubernetes_clusters.id');
      return [
        made.select('made.created_at').as('kubeconfig_created_at'),
        made.select('made.expires_at').as('kubeconfig_expires_at'),
      ];
    })
    .where(isIn(place));
}

/** JSON carries times as text. */
type WithPoolTexts = Omit<ClusterRow, 'pools'> & {
  pools: (Omit<PoolRow, 'created_at'> & { created_at: string })[];
};

function withDates(row: WithPoolTexts): ClusterRow {
  return { ...row, pools: row.pools.map((pool) => ({ ...pool, created_at: new Date(pool.created_at) })) };
}

export async function findCluster(db: Sql, place: Place, name: string): Promise<ClusterRow | undefined> {
  const row = await clusters(db, place).where('name', '=', name).executeTakeFirst();
  return row && withDates(row);
}

/** Returns the logging settings of a cluster, and its project. */
export async function findLogging(
  tx: Transaction,
  clusterId: string,
): Promise<{ projectId: number; logging: ClusterConfiguration['logging'] } | undefined> {
  const row = await tx.sql
    .selectFrom('kubernetes_clusters')
    .select(['project_id', 'configuration'])
    .where('id', '=', clusterId)
    .executeTakeFirst();
  return row && { projectId: row.project_id, logging: row.configuration.logging };
}

export async function listClusters(db: Sql, place: Place, page: PageQuery): Promise<Page<ClusterRow>> {
  const ordered = clusters(db, place).orderBy('created_at', 'desc').orderBy('id', 'desc');
  const { count, rows } = await pageWithCount(ordered, page);
  return { count, rows: rows.map(withDates) };
}

/** Locks the cluster against every other change until the transaction ends, and returns it. */
export async function lockCluster(tx: Transaction, place: Place, name: string): Promise<ClusterRow | undefined> {
  // Reads after locking: a statement that waits for a row would still see the pools as they were before.
  const locked = lockByName(tx.sql, { ...place, name });
  const [, cluster] = await together(locked, findCluster(tx.sql, place, name));
  return cluster;
}
const lockByName = compiledQuery((db, args: Place & { name: string }) =>
  db
    .selectFrom('kubernetes_clusters')
    .select('id')
    .where(isIn(args))
    .where('name', '=', args.name)
    .forUpdate()
    .compile(),
);

export type NewCluster = Omit<Insertable<Tables['kubernetes_clusters']>, 'configuration' | 'next_configuration'> & {
  configuration: ClusterConfiguration;
};
export type NewPool = Omit<
  PoolRow,
  'cluster_id' | 'position' | 'created_at' | 'pending' | 'revision' | 'servergroup_id' | 'servergroup_name'
>;

export async function insertCluster(tx: Transaction, cluster: NewCluster, pools: NewPool[]): Promise<void> {
  await tx.sql
    .insertInto('kubernetes_clusters')
    .values({ ...cluster, configuration: JSON.stringify(cluster.configuration), next_configuration: null })
    .execute();
  await insertPools(tx, { clusterId: cluster.id, createdAt: cluster.created_at }, pools);
}

/** Adds pools after those that the cluster has already; there are `firstPosition` of them. */
export async function insertPools(
  tx: Transaction,
  to: { clusterId: string; createdAt: Date; firstPosition?: number; pending?: 'Provisioning' },
  pools: NewPool[],
): Promise<void> {
  await tx.sql
    .insertInto('kubernetes_pools')
    .values(
      pools.map(({ security_group_ids: _, labels, taints, crio_config, kubelet_config, ...pool }, position) => ({
        ...pool,
        cluster_id: to.clusterId,
        position: position + (to.firstPosition ?? 0),
        pending: to.pending ?? null,
        labels: JSON.stringify(labels),
        taints: JSON.stringify(taints),
        crio_config: JSON.stringify(crio_config),
        kubelet_config: JSON.stringify(kubelet_config),
        created_at: to.createdAt,
      })),
    )
    .execute();
  await linkGroups(tx, pools);
}

export async function linkGroups(tx: Transaction, pools: readonly Pick<NewPool, 'id' | 'security_group_ids'>[]) {
  const links = pools.flatMap((pool) =>
    pool.security_group_ids.map((id, position) => ({
      pool_id: pool.id,
      security_group_id: id,
      position,
    })),
  );
  if (links.length > 0) await tx.sql.insertInto('kubernetes_pool_security_groups').values(links).execute();
}

export function holdCluster(
  tx: Transaction,
  id: string,
  { next, ...hold }: Pick<Hold, 'taskId' | 'status'> & { next?: ClusterConfiguration },
): void {
  tx.send(writeHold, { ...hold, id, next: next ? JSON.stringify(next) : null });
}
interface Hold {
  id: string;
  taskId: string;
  status: 'Provisioned' | 'Deleting';
  next: string | null;
}
const writeHold = compiledQuery((db, { id, taskId, status, next }: Hold) =>
  db
    .updateTable('kubernetes_clusters')
    .set({ task_id: taskId, status, next_configuration: next })
    .where('id', '=', id)
    .compile(),
);

/** Ends the task's hold on the cluster and may set a new version. Returns false if the task didn't hold it. */
export async function releaseCluster(tx: Transaction, held: { clusterId: string; taskId: string }, version?: string) {
  const { numUpdatedRows } = await tx.sql
    .updateTable('kubernetes_clusters')
    .set({
      task_id: null,
      status: 'Provisioned',
      next_configuration: null,
      ...(version !== undefined && { version }),
    })
    .where('id', '=', held.clusterId)
    .where('task_id', '=', held.taskId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Makes the configuration of a running update the cluster's own. */
export async function adoptNextConfiguration(tx: Transaction, id: string): Promise<void> {
  await tx.sql
    .updateTable('kubernetes_clusters')
    .set({ configuration: sql`coalesce(next_configuration, configuration)` })
    .where('id', '=', id)
    .execute();
}

/** Deletes a cluster that the task holds. Returns false if there is none. */
export async function deleteCluster(tx: Transaction, held: { clusterId: string; taskId: string }): Promise<boolean> {
  const { numDeletedRows } = await tx.sql
    .deleteFrom('kubernetes_clusters')
    .where('id', '=', held.clusterId)
    .where('task_id', '=', held.taskId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Quotas that a cluster takes in addition to its nodes. The security group is the one that its nodes are in. */
export const CLUSTER_QUOTAS = { cluster_count: 1, firewall_count: 1 };
