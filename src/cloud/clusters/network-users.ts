import { sql } from 'kysely';
import type { NetworkUsers } from '../networks/users.ts';

/** Clusters that keep a network or a subnet from being deleted. */
export const clustersInNetworks: NetworkUsers = {
  async usersOf(tx, { projectId, regionId }, where, limit) {
    const [column, id] =
      'networkId' in where
        ? (['fixed_network', where.networkId] as const)
        : (['fixed_subnet', where.subnetId] as const);
    const rows = await tx.sql
      .selectFrom('kubernetes_clusters')
      .select('name')
      .where('project_id', '=', projectId)
      .where('region_id', '=', regionId)
      .where(sql<boolean>`lower(${sql.ref(column)}) = ${id}`)
      .orderBy('name')
      .limit(limit)
      .execute();
    return rows.map(({ name }) => `cluster ${name}`);
  },
};
