import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { NetworkOrSubnet } from '../networks/network-rows.ts';
import { isIn, type Place } from '../projects/place.ts';

/** Up to `limit` clusters that keep a network or a subnet from being deleted, each as `cluster blue`. */
export async function clustersIn(
  tx: Transaction,
  place: Place,
  where: NetworkOrSubnet,
  limit: number,
): Promise<string[]> {
  const [column, id] =
    'networkId' in where
      ? (['fixed_network', where.networkId] as const)
      : (['fixed_subnet', where.subnetId] as const);
  const rows = await tx.sql
    .selectFrom('kubernetes_clusters')
    .select('name')
    .where(isIn(place))
    .where(sql<boolean>`lower(${sql.ref(column)}) = ${id}`)
    .orderBy('name')
    .limit(limit)
    .execute();
  return rows.map(({ name }) => `cluster ${name}`);
}
