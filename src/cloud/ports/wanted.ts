import { sql } from 'kysely';
import type { PortSpec } from '../../backends/contract/specs.ts';
import type { Transaction } from '../../db/database.ts';
import type { AddressPair } from './address-pairs.ts';

interface PortParts {
  id: string;
  network_id: string;
  mac_address: string;
  port_security_enabled: boolean;
  allowed_address_pairs: AddressPair[];
  tags: Record<string, string>;
  addresses: { address: string; subnet_id: string }[];
  group_ids: string[];
}

/** Ports as their rows in the transaction say them, by id. */
export async function portSpecs(tx: Transaction, ids: readonly string[]): Promise<Map<string, PortSpec>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<PortParts>`
    select id, network_id, mac_address::text, port_security_enabled, allowed_address_pairs, tags,
      (select coalesce(json_agg(json_build_object('address', host(address), 'subnet_id', subnet_id)), '[]')
        from ip_assignments where port_id = ports.id) as addresses,
      array(select security_group_id::text from port_security_groups where port_id = ports.id) as group_ids
    from ports where id = any(${ids}::uuid[]) order by id`.execute(tx.sql);
  return new Map(rows.map((row) => [row.id, specOf(row)]));
}

function specOf(port: PortParts): PortSpec {
  return {
    networkId: port.network_id,
    addresses: Object.fromEntries(
      port.addresses.map(({ address, subnet_id }) => [address, { subnetId: subnet_id }]),
    ),
    macAddress: port.mac_address,
    portSecurity: port.port_security_enabled,
    groups: Object.fromEntries(port.group_ids.map((id) => [id, true])),
    addressPairs: port.allowed_address_pairs.map(({ ip_address, mac_address }) => ({
      ipAddress: ip_address,
      ...(mac_address !== undefined && mac_address !== null && { macAddress: mac_address }),
    })),
    metadata: port.tags,
  };
}
