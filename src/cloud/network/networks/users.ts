import { sql } from 'kysely';
import type { Transaction } from '../../../db/database.ts';
import { isIn, type Place } from '../../../db/place.ts';
import type { NetworkOrSubnet } from './service.ts';

/* What of the wings above keeps a network or a subnet from being deleted. */

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

/** Returns up to `limit` shares that keep a network or a subnet from deletion, each as `file share data (<id>)`. */
export async function sharesIn(
  tx: Transaction,
  place: Place,
  where: NetworkOrSubnet,
  limit: number,
): Promise<{ kind: 'file_share'; id: string; title: string }[]> {
  const shares = tx.sql
    .selectFrom('file_shares')
    .select(['id', 'name'])
    .where(isIn(place))
    .orderBy('name')
    .orderBy('id')
    .limit(limit);
  const rows = await ('networkId' in where
    ? shares.where('network_id', '=', where.networkId)
    : shares.where('subnet_id', '=', where.subnetId)
  ).execute();
  return rows.map(({ id, name }) => ({ kind: 'file_share', id, title: `file share ${name} (${id})` }));
}

/**
 * Returns up to `limit` load balancers that keep a network or a subnet from deletion, each as `load balancer web (<id>)`:
 * those with their virtual address there, and those that reach members there.
 */
export async function balancersIn(
  tx: Transaction,
  place: Place,
  where: NetworkOrSubnet,
  limit: number,
): Promise<{ kind: 'load_balancer'; id: string; title: string }[]> {
  const subnets =
    'networkId' in where
      ? sql`select id from subnets where network_id = ${where.networkId}`
      : sql`select ${where.subnetId}::uuid as id`;
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from load_balancers as one
    where ${isIn(place)} and (
      exists (
        select from ports join ip_assignments on port_id = ports.id
        where ports.load_balancer_id = one.id and subnet_id in (${subnets}))
      or exists (select from lb_members where load_balancer_id = one.id and subnet_id in (${subnets})))
    order by name, id limit ${limit}`.execute(tx.sql);
  return rows.map(({ id, name }) => ({ kind: 'load_balancer', id, title: `load balancer ${name} (${id})` }));
}
