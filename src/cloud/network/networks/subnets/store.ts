import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { belongsTo, type Place, type Transaction } from '../../../../db/database.ts';
import type { Tables } from '../../../../db/tables.ts';

export type OwnSubnet = Selectable<Tables['subnets']> & { is_default: boolean };

/** Locks a subnet of the project, as taking an address does. */
export async function lockSubnet(tx: Transaction, place: Place, id: string): Promise<OwnSubnet | undefined> {
  return tx.sql
    .selectFrom('subnets')
    .innerJoin('networks', 'networks.id', 'subnets.network_id')
    .selectAll('subnets')
    .select('networks.is_default')
    .where('subnets.id', '=', id)
    .where(belongsTo(place, 'networks'))
    .forNoKeyUpdate('subnets')
    .executeTakeFirst();
}

/** Returns a subnet of the network that overlaps the range. The network must be locked. */
export async function overlapping(tx: Transaction, networkId: string, cidr: string) {
  return tx.sql
    .selectFrom('subnets')
    .select(['id', 'name', 'cidr'])
    .where('network_id', '=', networkId)
    .where(sql<boolean>`cidr && ${cidr}::cidr`)
    .orderBy('cidr')
    .limit(1)
    .executeTakeFirst();
}

export async function insertSubnet(tx: Transaction, row: Insertable<Tables['subnets']>): Promise<void> {
  await tx.sql.insertInto('subnets').values(row).execute();
}

export async function changeSubnet(tx: Transaction, id: string, change: Updateable<Tables['subnets']>): Promise<void> {
  await tx.sql.updateTable('subnets').set(change).where('id', '=', id).execute();
}

/** Reserves an address for the gateway. Violates `ip_assignments_once` when a port has it. */
export async function keepForGateway(tx: Transaction, subnetId: string, address: string): Promise<void> {
  await tx.sql.insertInto('ip_assignments').values({ subnet_id: subnetId, address, port_id: null }).execute();
  await tx.sql.updateTable('subnets').set({ used_ips: sql`used_ips + 1` }).where('id', '=', subnetId).execute();
}

/** Releases the gateway's address, if it was reserved. */
export async function freeGateway(tx: Transaction, subnetId: string): Promise<void> {
  await sql`
    with gone as (
      delete from ip_assignments
      where subnet_id = ${subnetId} and port_id is null and router_id is null returning address
    )
    update subnets set used_ips = used_ips - 1, free_from = least(free_from, gone.address)
    from gone where subnets.id = ${subnetId}`.execute(tx.sql);
}

/** Deletes a subnet and the reserved address of its gateway. Returns whether the subnet existed. */
export async function deleteSubnet(tx: Transaction, id: string): Promise<boolean> {
  await tx.sql.deleteFrom('ip_assignments').where('subnet_id', '=', id).where('port_id', 'is', null).execute();
  const { numDeletedRows } = await tx.sql.deleteFrom('subnets').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}
