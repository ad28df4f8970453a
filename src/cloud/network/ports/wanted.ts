import { sql } from 'kysely';
import type { PortSpec } from '../../../backends/contract/specs.ts';
import { amend, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import type { AddressPair } from './tables.ts';
import type { WantedPort } from './wanted-port.ts';

interface PortParts {
  id: string;
  network_id: string;
  mac_address: string;
  port_security_enabled: boolean;
  allowed_address_pairs: AddressPair[];
  reserved: boolean;
  tags: Record<string, string>;
  addresses: { address: string; subnet_id: string }[];
  group_ids: string[];
}

/** Returns the specs of ports by ID, from their rows in the transaction. */
export async function portSpecs(tx: Transaction, ids: readonly string[]): Promise<Map<string, PortSpec>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<PortParts>`
    select id, network_id, mac_address::text, port_security_enabled, allowed_address_pairs, reserved, tags,
      (select coalesce(json_agg(json_build_object('address', host(address), 'subnet_id', subnet_id)), '[]')
        from ip_assignments where port_id = ports.id) as addresses,
      array(select security_group_id::text from port_security_groups where port_id = ports.id) as group_ids
    from ports where id = any(${ids}::uuid[]) order by id`.execute(tx.sql);
  return new Map(rows.map((row) => [row.id, specOf(row)]));
}

/** Wants ports as they are in their rows. No task may hold them, as what it wants isn't in the rows yet. */
export async function asInRows(tx: Transaction, ids: readonly string[]): Promise<Wanted[]> {
  return [...(await portSpecs(tx, ids))].map(([id, spec]) => amend('port', id, () => spec));
}

/** Returns the spec of the port after the wanted change. */
export function changedPort(spec: PortSpec, wanted: WantedPort): PortSpec {
  const { portSecurityEnabled, groupIds, pairs, tags, dropped } = wanted;
  const gone = new Set(dropped.map(({ address }) => address));
  return {
    ...spec,
    addresses: Object.fromEntries(Object.entries(spec.addresses).filter(([address]) => !gone.has(address))),
    portSecurity: portSecurityEnabled,
    ...(groupIds && { groups: groupsSpec(groupIds) }),
    ...(pairs && { addressPairs: pairsSpec(pairs) }),
    metadata: tags,
  };
}

/** Removes the group from the wanted state of the ports. */
export const withoutGroup = (portIds: readonly string[], groupId: string): Wanted[] =>
  portIds.map((id) =>
    amend('port', id, (spec) => {
      if (!spec) return undefined;
      const { [groupId]: _, ...groups } = spec.groups;
      return { ...spec, groups };
    }),
  );

/** Removes all groups from the wanted state of the ports. */
export const withoutGroups = (portIds: readonly string[]): Wanted[] =>
  portIds.map((id) => amend('port', id, (spec) => spec && { ...spec, groups: {} }));

/** Removes the addresses from the wanted address pairs of the ports. */
export const withoutPairs = (portIds: readonly string[], addresses: readonly string[]): Wanted[] =>
  portIds.map((id) =>
    amend(
      'port',
      id,
      (spec) =>
        spec && {
          ...spec,
          addressPairs: spec.addressPairs.filter(({ ipAddress }) => !addresses.includes(ipAddress)),
        },
    ),
  );

function specOf(port: PortParts): PortSpec {
  return {
    networkId: port.network_id,
    addresses: Object.fromEntries(
      port.addresses.map(({ address, subnet_id }) => [address, { subnetId: subnet_id }]),
    ),
    macAddress: port.mac_address,
    portSecurity: port.port_security_enabled,
    groups: groupsSpec(port.group_ids),
    addressPairs: pairsSpec(port.allowed_address_pairs),
    ...(port.reserved && { reserved: true }),
    metadata: port.tags,
  };
}

const groupsSpec = (ids: readonly string[]): PortSpec['groups'] =>
  Object.fromEntries(ids.map((id) => [id, true]));

const pairsSpec = (pairs: readonly AddressPair[]): PortSpec['addressPairs'] =>
  pairs.map(({ ip_address, mac_address }) => ({
    ipAddress: ip_address,
    ...(mac_address !== undefined && { macAddress: mac_address }),
  }));
