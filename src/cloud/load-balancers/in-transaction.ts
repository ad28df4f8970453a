import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import { isIn, type Place } from '../../db/place.ts';
import type { NetworkOrSubnet } from '../networks/in-transaction.ts';

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
