import { sql } from 'kysely';
import type { PortSpec } from '../../../backends/contract/specs.ts';
import { type TaskEnd, type TaskType, taskType } from '../../../convergence/task-kind.ts';
import { amend, type Wanted, wantedOf } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import type { AddressPair } from '../../../db/json-columns.ts';
import * as addresses from '../addresses/in-transaction.ts';
import * as portGroups from './groups/in-transaction.ts';
import { changePort, lockPort } from './port-rows.ts';
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

export const withoutGroup = (portIds: readonly string[], groupId: string): Wanted[] =>
  portIds.map((id) =>
    amend('port', id, (spec) => {
      if (!spec) return undefined;
      const { [groupId]: _, ...groups } = spec.groups;
      return { ...spec, groups };
    }),
  );

export const withoutGroups = (portIds: readonly string[]): Wanted[] =>
  portIds.map((id) => amend('port', id, (spec) => spec && { ...spec, groups: {} }));

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
    addresses: Object.fromEntries(port.addresses.map(({ address, subnet_id }) => [address, { subnetId: subnet_id }])),
    macAddress: port.mac_address,
    portSecurity: port.port_security_enabled,
    groups: groupsSpec(port.group_ids),
    addressPairs: pairsSpec(port.allowed_address_pairs),
    ...(port.reserved && { reserved: true }),
    metadata: port.tags,
  };
}

const groupsSpec = (ids: readonly string[]): PortSpec['groups'] => Object.fromEntries(ids.map((id) => [id, true]));

const pairsSpec = (pairs: readonly AddressPair[]): PortSpec['addressPairs'] =>
  pairs.map(({ ip_address, mac_address }) => ({
    ipAddress: ip_address,
    ...(mac_address !== undefined && { macAddress: mac_address }),
  }));

/** Absent fields keep their values. */
interface PortInput extends WantedPort {
  portId: string;
}

export const UPDATE_PORT = taskType<PortInput>('update_port');
export const UPDATE_PAIRS = taskType<PortInput>('update_port_allowed_address_pairs');

/** How changes of ports end: the row gets the wanted values or keeps its own. */
export function portTasks(): TaskEnd[] {
  const update = (task: TaskType<PortInput>): TaskEnd<PortInput> => ({
    ...task,
    async complete(tx, _task, { portId, portSecurityEnabled, groupIds, pairs, tags, dropped }) {
      // The port may be gone, together with its instance.
      if (!(await lockPort(tx, portId))) return;
      // Groups and virtual addresses that were deleted meanwhile are no longer wanted.
      const wanted = await wantedOf(tx, 'port', portId);
      const groups = groupIds?.filter((id) => !wanted || id in wanted.groups);
      const kept = pairs?.filter(
        (pair) => !wanted || wanted.addressPairs.some(({ ipAddress }) => ipAddress === pair.ip_address),
      );
      if (groups) await portGroups.replaceGroups(tx, portId, groups);
      await changePort(tx, portId, {
        port_security_enabled: portSecurityEnabled,
        ...(kept && { allowed_address_pairs: JSON.stringify(kept) }),
        tags: JSON.stringify(tags),
        task_id: null,
        updated_at: tx.now,
      });
      await addresses.releaseSome(tx, portId, dropped);
    },
    async abandon(tx, _task, { portId, added }) {
      if (!(await lockPort(tx, portId))) return [];
      await changePort(tx, portId, { task_id: null });
      await addresses.releaseSome(tx, portId, added);
      return asInRows(tx, [portId]);
    },
  });

  return [update(UPDATE_PORT), update(UPDATE_PAIRS)];
}
