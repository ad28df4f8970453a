import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import { isIn, type Place } from '../../db/place.ts';
import type { NetworkOrSubnet } from '../networks/in-transaction.ts';

/* Which clusters need something, for features that are about to delete it. */

/** Returns up to `limit` clusters that use the key for nodes or Slurm, or will after their running update. */
export async function clustersWithKey(
  tx: Transaction,
  { id, project_id, name }: { id: string; project_id: number; name: string },
  limit: number,
): Promise<{ name: string; onlySlurm: boolean }[]> {
  // Looks for the UUID in the list's text: nothing else in the list can contain it. Letter case doesn't matter.
  const lists = (column: string) =>
    sql<boolean>`strpos(lower(${sql.ref(column)} #>> '{add_ons,slurm,ssh_key_ids}'), ${id}) > 0`;
  return tx.sql
    .selectFrom('kubernetes_clusters')
    .select(['name', sql<boolean>`keypair is distinct from ${name}`.as('onlySlurm')])
    .where('project_id', '=', project_id)
    .where((eb) => eb.or([eb('keypair', '=', name), lists('configuration'), lists('next_configuration')]))
    .orderBy('name')
    .limit(limit)
    .execute();
}

/** Returns the name of a cluster whose Slurm add-on uses the share, or will after its running update. */
export async function slurmClusterOn(
  tx: Transaction,
  shareId: string,
): Promise<{ id: string; name: string } | undefined> {
  const path = '{add_ons,slurm,file_share_id}';
  return tx.sql
    .selectFrom('kubernetes_clusters')
    .select(['id', 'name'])
    .where((eb) =>
      eb.or([
        eb(sql`configuration #>> ${sql.lit(path)}`, '=', shareId),
        eb(sql`next_configuration #>> ${sql.lit(path)}`, '=', shareId),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
}

/** Returns the name of a cluster that logs to the topic in the region, or will after its running update. */
export async function clusterLoggingInto(
  tx: Transaction,
  { projectId, regionId }: Place,
  topic: string,
): Promise<string | undefined> {
  const logsThere = JSON.stringify({
    logging: { enabled: true, destination_region_id: regionId, topic_name: topic },
  });
  const row = await tx.sql
    .selectFrom('kubernetes_clusters')
    .select('name')
    .where('project_id', '=', projectId)
    .where(sql<boolean>`(configuration @> ${logsThere}::jsonb or next_configuration @> ${logsThere}::jsonb)`)
    .orderBy('name')
    .limit(1)
    .executeTakeFirst();
  return row?.name;
}

/** Returns up to `limit` clusters that keep a network or a subnet from being deleted, titled `cluster blue`. */
export async function clustersIn(
  tx: Transaction,
  place: Place,
  where: NetworkOrSubnet,
  limit: number,
): Promise<{ kind: 'cluster'; id: string; title: string }[]> {
  const [column, id] =
    'networkId' in where
      ? (['fixed_network', where.networkId] as const)
      : (['fixed_subnet', where.subnetId] as const);
  const rows = await tx.sql
    .selectFrom('kubernetes_clusters')
    .select(['id', 'name'])
    .where(isIn(place))
    .where(sql<boolean>`lower(${sql.ref(column)}) = ${id}`)
    .orderBy('name')
    .limit(limit)
    .execute();
  return rows.map(({ id: cluster, name }) => ({ kind: 'cluster', id: cluster, title: `cluster ${name}` }));
}
