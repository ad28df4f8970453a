import { type RawBuilder, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { belongsTo, isIn, type Sql, type Transaction } from '../../../db/database.ts';
import type { AddressPair } from '../../../db/json-columns.ts';

/** A virtual address with everything that its lists and changes need. */
export interface Vip {
  id: string;
  network_id: string;
  project_id: number;
  region_id: number;
  /** The addresses of its port: one, or one of each family. */
  addresses: string[];
}

/** An instance's port, as the lists of a VIP show it. */
export interface DeviceRow {
  port_id: string;
  network_id: string;
  instance_id: string;
  instance_name: string;
  ip_assignments: { ip_address: string; subnet_id: string }[];
}

/** A locked port that shares a VIP or will share it. */
export interface Member {
  id: string;
  network_id: string;
  instance_id: string | null;
  pool_id: string | null;
  task_id: string | null;
  port_security_enabled: boolean;
  allowed_address_pairs: AddressPair[];
}

/**
 * A port shares an address if the address is among its allowed address pairs, as in Neutron; nothing else records it.
 * These are the `from` and `where` of a query for instances' ports, called `sharing`, inside a query on `ports`. It
 * finds nothing for ports that aren't VIPs.
 */
export const sharingPorts = sql`
  from ip_assignments as own
  join ports as sharing
    on sharing.allowed_address_pairs @> jsonb_build_array(jsonb_build_object('ip_address', host(own.address)))
  where own.port_id = ports.id and ports.is_vip and sharing.allowed_address_pairs <> '[]'
    and sharing.network_id = ports.network_id and sharing.project_id = ports.project_id
    and sharing.instance_id is not null`;

export async function addressesOf(db: Sql, portId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('ip_assignments')
    .select(sql<string>`host(address)`.as('address'))
    .where('port_id', '=', portId)
    .orderBy('ip_assignments.address')
    .execute();
  return rows.map(({ address }) => address);
}

/** Lists the instances' ports that share a VIP, oldest first. */
export async function connectedDevices(db: Sql, vip: Vip): Promise<DeviceRow[]> {
  return devices(db, vip).where(shares(vip)).execute();
}

/** Lists the ports that could share it: with port security, with room for more pairs, and not of a cluster's node. */
export async function availableDevices(db: Sql, vip: Vip, mostPairs: number): Promise<DeviceRow[]> {
  return devices(db, vip)
    .where(({ not }) => not(shares(vip)))
    .where('ports.port_security_enabled', '=', true)
    .where('instances.pool_id', 'is', null)
    .where(sql<boolean>`jsonb_array_length(allowed_address_pairs) + ${vip.addresses.length} <= ${mostPairs}`)
    .execute();
}

function devices(db: Sql, vip: Vip) {
  return db
    .selectFrom('ports')
    .innerJoin('instances', 'instances.id', 'ports.instance_id')
    .select(['ports.id as port_id', 'ports.network_id', 'instances.id as instance_id'])
    .select('instances.name as instance_name')
    .select((port) =>
      jsonArrayFrom(
        port
          .selectFrom('ip_assignments')
          .select([sql<string>`host(address)`.as('ip_address'), 'subnet_id'])
          .whereRef('port_id', '=', 'ports.id')
          .orderBy('address'),
      ).as('ip_assignments'),
    )
    .where('ports.network_id', '=', vip.network_id)
    .where('ports.project_id', '=', vip.project_id)
    .orderBy('ports.created_at')
    .orderBy('ports.id');
}

function shares({ addresses }: Vip): RawBuilder<boolean> {
  const pairs = addresses.map((ip_address) => JSON.stringify([{ ip_address }]));
  const each = pairs.map((pair) => sql<boolean>`allowed_address_pairs @> ${pair}::jsonb`);
  return sql<boolean>`(allowed_address_pairs <> '[]' and (${sql.join(each, sql` or `)}))`;
}

/**
 * Locks the ports with these IDs and, if requested, all that share the VIP, always in the same order. The VIP must be
 * locked. Other VIPs are left out: two requests that name each other's VIPs would deadlock.
 */
export async function lockMembers(tx: Transaction, vip: Vip, ids: string[], withSharing: boolean): Promise<Member[]> {
  const named = sql<boolean>`ports.id = any(${ids}::uuid[])`;
  return tx.sql
    .selectFrom('ports')
    .select(['id', 'network_id', 'instance_id', 'task_id', 'port_security_enabled', 'allowed_address_pairs'])
    .select((port) => port.selectFrom('instances').select('pool_id').whereRef('id', '=', 'instance_id').as('pool_id'))
    .where((withSharing ? isIn : belongsTo)({ projectId: vip.project_id, regionId: vip.region_id }))
    .where('is_vip', '=', false)
    .where(({ or }) => or(withSharing ? [named, sharesInNetwork(vip)] : [named]))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

const sharesInNetwork = (vip: Vip) => sql<boolean>`(network_id = ${vip.network_id} and ${shares(vip)})`;
