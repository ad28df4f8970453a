import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { belongsTo, type Place, type Transaction } from '../../../db/database.ts';
import type { Tables } from '../../../db/tables.ts';
import type { NetworkOrSubnet } from './service.ts';

export type OwnNetwork = Selectable<Tables['networks']>;

/** Locks a network of the project against other changes until the transaction ends. Ports may still be added. */
export async function lockNetwork(tx: Transaction, place: Place, id: string): Promise<OwnNetwork | undefined> {
  return tx.sql
    .selectFrom('networks')
    .selectAll()
    .where('id', '=', id)
    .where(belongsTo(place))
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export async function insertNetwork(tx: Transaction, row: Insertable<Tables['networks']>): Promise<void> {
  await tx.sql.insertInto('networks').values(row).execute();
}

export async function changeNetwork(tx: Transaction, id: string, change: Updateable<Tables['networks']>) {
  await tx.sql.updateTable('networks').set(change).where('id', '=', id).execute();
}

/** Returns a number that no other network of the type has; undefined when none is left. */
export async function nextSegment(tx: Transaction, regionId: number, type: 'vlan' | 'vxlan') {
  if (type === 'vxlan') {
    const { rows } = await sql<{ segment: number }>`select nextval('network_segments') as segment`.execute(tx.sql);
    return rows[0]?.segment;
  }
  await sql`select pg_advisory_xact_lock(hashtext('networks_vlan'), ${regionId}::int)`.execute(tx.sql);
  // Switches use VLAN 1 themselves.
  const { rows } = await sql<{ segment: number }>`
    select segment from generate_series(2, 4094) as segment
    where not exists (
      select from networks where region_id = ${regionId} and type = 'vlan' and segmentation_id = segment
    )
    order by segment limit 1`.execute(tx.sql);
  return rows[0]?.segment;
}

/** Locks the subnets of a network, in the order in which taking addresses locks them, and returns them. */
export async function lockSubnetsOf(tx: Transaction, networkId: string) {
  return tx.sql
    .selectFrom('subnets')
    .select(['id', 'name', 'task_id', 'creator_task_id'])
    .where('network_id', '=', networkId)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

export async function holdSubnetsOf(tx: Transaction, networkId: string, taskId: string): Promise<void> {
  await tx.sql
    .updateTable('subnets')
    .set({ ready: false, task_id: taskId })
    .where('network_id', '=', networkId)
    .execute();
}

/** Returns up to `limit` ports in the network or subnet, with their instances. */
export async function portsIn(
  tx: Transaction,
  where: NetworkOrSubnet,
  limit: number,
): Promise<
  {
    id: string;
    instanceId: string | null;
    instanceName: string | null;
    poolId: string | null;
    loadBalancerId: string | null;
    reserved: boolean;
  }[]
> {
  const ports = tx.sql
    .selectFrom('ports')
    .leftJoin('instances', 'instances.id', 'ports.instance_id')
    .select(['ports.id', 'instances.id as instanceId', 'instances.name as instanceName'])
    .select(['instances.pool_id as poolId', 'ports.load_balancer_id as loadBalancerId', 'ports.reserved'])
    // Nodes come last, because the message names their clusters anyway.
    .orderBy(sql`pool_id is not null`)
    .orderBy('ports.created_at')
    .orderBy('ports.id')
    .limit(limit);
  if ('networkId' in where) return ports.where('ports.network_id', '=', where.networkId).execute();
  return ports
    .where('ports.id', 'in', (query) =>
      query
        .selectFrom('ip_assignments')
        .select('port_id')
        .where('subnet_id', '=', where.subnetId)
        .where('port_id', 'is not', null)
        .$castTo<{ port_id: string }>(),
    )
    .execute();
}

/** Deletes a network with its subnets. Returns how many of these clients had created; undefined if there is none. */
export async function deleteNetwork(tx: Transaction, id: string): Promise<number | undefined> {
  await sql`
    delete from ip_assignments
    where port_id is null and subnet_id in (select id from subnets where network_id = ${id})`.execute(tx.sql);
  const subnets = await tx.sql
    .deleteFrom('subnets')
    .where('network_id', '=', id)
    .returning('creator_task_id')
    .execute();
  const { numDeletedRows } = await tx.sql.deleteFrom('networks').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n ? subnets.filter((one) => one.creator_task_id !== null).length : undefined;
}
