import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import { newId } from '../../../../lib/ids.ts';
import type { Scope } from '../../../../platform.ts';
import type { AddressSource, AddressWish, HeldAddress } from '../../../network/addresses/in-transaction.ts';
import * as addresses from '../../../network/addresses/in-transaction.ts';
import { familiesOf, wishedAddresses } from '../../../network/addresses/schema.ts';
import type { FloatingIpWish, PlannedFloatingIp } from '../../../network/floating-ips/service.ts';
import * as floatingIps from '../../../network/floating-ips/service.ts';
import * as groups from '../../../network/ports/groups/in-transaction.ts';
import * as portGroups from '../../../network/ports/groups/in-transaction.ts';
import * as ports from '../../../network/ports/in-transaction.ts';
import { attachReserved, lockReserved, type ReservedPort } from '../../../network/ports/reserved/in-transaction.ts';
import type { CreateInstance, NewInterface } from '../schema.ts';

/** Returns the addresses that an interface asks for. `field` is its field in the request, for error messages. */
export function addressWishes(given: NewInterface, field: string, portId: string): AddressWish[] {
  return sourcesOf(given).map((from) => ({ holder: { port: portId }, field, from }));
}

function sourcesOf(given: NewInterface): AddressSource[] {
  switch (given.type) {
    case 'external':
      return familiesOf(given.ip_family).map((family) => ({ kind: 'external', family }));
    case 'subnet': {
      const { network_id: networkId, subnet_id: subnetId, ip_family } = given;
      const [family] = (ip_family ?? null) === null ? [] : familiesOf(ip_family);
      return [{ kind: 'subnet', networkId, subnetId, family }];
    }
    case 'any_subnet':
      return wishedAddresses(given.ip_family, given.ip_address).map((wish) => ({
        kind: 'any-subnet',
        networkId: given.network_id,
        ...wish,
      }));
    case 'reserved_fixed_ip':
      return [];
  }
}

/**
 * Returns the security groups of each interface, in order: its own, else the request's, else the project's default.
 * @throws InvalidError for a group that the project doesn't have
 */
export async function interfaceGroups(
  tx: Transaction,
  scope: Scope,
  request: Pick<CreateInstance, 'interfaces' | 'security_groups'>,
): Promise<string[][]> {
  const named = [
    { field: 'security_groups', list: request.security_groups ?? [] },
    ...request.interfaces.map((one, index) => ({
      field: `interfaces.${index}.security_groups`,
      list: one.security_groups ?? [],
    })),
  ];
  const ids = new Set(named.flatMap(({ list }) => list.map(({ id }) => id.toLowerCase())));
  const known = await groups.existingGroups(tx, scope, [...ids]);
  const problems = named.flatMap(({ field, list }) =>
    list.flatMap(({ id }, index): FieldProblem[] =>
      known.has(id.toLowerCase())
        ? []
        : [{ field: `${field}.${index}.id`, message: `No security group ${id} in this project and region.` }],
    ),
  );
  if (problems.length > 0) throw new InvalidError(problems);
  const wanted = request.interfaces.map((one) => one.security_groups ?? request.security_groups ?? undefined);
  const fallback = wanted.includes(undefined) ? await groups.defaultGroup(tx, scope) : undefined;
  return wanted.map((list) => {
    if (list) return [...new Set(list.map(({ id }) => id.toLowerCase()))];
    return fallback === undefined ? [] : [fallback];
  });
}

/** A requested interface. What exists of it already is locked. */
export interface WantedInterface {
  portId: string;
  field: string;
  given: NewInterface;
  groupIds: string[];
  reserved: ReservedPort | undefined;
  floatingIp: PlannedFloatingIp | undefined;
}

export interface AddressedInterface extends WantedInterface {
  networkId: string;
  external: boolean;
  /** At least one; an IPv4 address comes first. */
  addresses: HeldAddress[];
  /** The address of its new floating IP. */
  floatingAddress: string | undefined;
}

/*
 * The interfaces of new instances, and interfaces that are attached later. The three steps lock ports, floating IPs
 * and subnets in this order, which is the same everywhere.
 */

/** @throws InvalidError, ConflictError for a reserved address or a floating IP that is in use */
export async function want(
  tx: Transaction,
  scope: Scope,
  request: Pick<CreateInstance, 'interfaces' | 'security_groups'>,
): Promise<WantedInterface[]> {
  const groups = await interfaceGroups(tx, scope, request);
  const reserved = await lockReserved(
    tx,
    scope,
    request.interfaces.flatMap((given, index) =>
      given.type === 'reserved_fixed_ip' ? [reservedWish(given, `interfaces.${index}`)] : [],
    ),
  );
  const planned = await floatingIps.plan(tx, scope, request.interfaces.map(floatingIpWish));
  return request.interfaces.map((given, index) => {
    const port = given.type === 'reserved_fixed_ip' ? reserved.get(given.port_id.toLowerCase()) : undefined;
    const named = given.security_groups ?? request.security_groups ?? undefined;
    // A port without port security has no groups. If the request names some, it is refused.
    const groupIds = port?.securityEnabled === false && named === undefined ? [] : (groups[index] ?? []);
    if (port?.securityEnabled === false && groupIds.length > 0) {
      throw new ConflictError(
        `Port ${port.id} has port security disabled and can't have security groups; leave them out`,
      );
    }
    return {
      portId: port?.id ?? newId(),
      field: `interfaces.${index}`,
      given,
      groupIds,
      reserved: port,
      floatingIp: planned[index],
    };
  });
}

/** @throws InvalidError, ConflictError when no address is left or the requested one is taken */
export async function address(tx: Transaction, scope: Scope, wanted: WantedInterface[]): Promise<AddressedInterface[]> {
  const wishes = wanted.flatMap(({ given, field, portId }) => addressWishes(given, field, portId));
  const publics = wanted.flatMap(({ floatingIp }) =>
    floatingIp?.made
      ? [
          {
            holder: { floatingIp: floatingIp.id },
            field: floatingIp.field,
            from: { kind: 'external' as const, family: 'IPv4' as const },
          },
        ]
      : [],
  );
  const taken = await addresses.take(tx, scope, [...wishes, ...publics]);
  const ofPort = (portId: string) => taken.filter(({ holder }) => 'port' in holder && holder.port === portId);
  const byFloatingIp = new Map(taken.map((one) => ['floatingIp' in one.holder ? one.holder.floatingIp : '', one]));
  return wanted.map((one) => {
    const own = ofPort(one.portId);
    const place = one.reserved ?? own[0];
    if (!place) throw new TypeError('every interface has a wish or a reserved port');
    const { networkId, external } = place;
    const addresses = one.reserved?.addresses ?? own;
    const floatingAddress = byFloatingIp.get(one.floatingIp?.id ?? 'none')?.address;
    return { ...one, networkId, external, addresses, floatingAddress };
  });
}

/** Writes ports, groups and floating IPs; the task holds the floating IPs. @throws InvalidError, ConflictError */
export async function write(
  tx: Transaction,
  scope: Scope,
  interfaces: AddressedInterface[],
  to: { instanceId: string; from: number; taskId: string; holdPorts: boolean },
): Promise<void> {
  const { instanceId, from, taskId, holdPorts } = to;
  const placed = interfaces.map((one, index) => ({
    ...one,
    id: one.portId,
    instanceId,
    interfaceName: one.given.interface_name ?? null,
    position: from + index,
    taskId: holdPorts ? taskId : null,
  }));
  const fresh = placed.filter(({ reserved }) => reserved === undefined);
  if (fresh.length > 0) await ports.insertPorts(tx, scope, fresh);
  await attachReserved(
    tx,
    instanceId,
    placed.filter(({ reserved }) => reserved !== undefined),
  );
  await portGroups.putOnPorts(
    tx,
    interfaces.flatMap(({ portId, groupIds }) => groupIds.map((groupId) => ({ portId, groupId }))),
  );
  await floatingIps.put(
    tx,
    scope,
    interfaces.flatMap((one) => {
      const { portId: id, external, floatingIp, floatingAddress } = one;
      const port = { id, address: firstAddress(one), external };
      return floatingIp ? [{ floatingIp, address: floatingAddress, port }] : [];
    }),
    taskId,
  );
}

function reservedWish(given: Extract<NewInterface, { type: 'reserved_fixed_ip' }>, field: string) {
  return { portId: given.port_id.toLowerCase(), ipFamily: given.ip_family, field };
}

/** Returns the address after which the instance is named and to which floating IPs are assigned. */
export function firstAddress({ addresses }: AddressedInterface): string {
  return addresses[0]?.address ?? '';
}

function floatingIpWish(given: NewInterface, index: number): FloatingIpWish | undefined {
  const wish = 'floating_ip' in given ? (given.floating_ip ?? undefined) : undefined;
  const field = `interfaces.${index}.floating_ip`;
  const port = given.type === 'reserved_fixed_ip' ? { portId: given.port_id.toLowerCase() } : {};
  return wish && (wish.source === 'new' ? { source: 'new', field } : { ...wish, ...port, field });
}

/** Returns all ports and floating IPs of the interfaces, new or not. */
export function namedBy(interfaces: AddressedInterface[]): { portIds: string[]; floatingIpIds: string[] } {
  return {
    portIds: interfaces.map(({ portId }) => portId),
    floatingIpIds: interfaces.flatMap(({ floatingIp }) => floatingIp?.id ?? []),
  };
}

/** Returns the ports and floating IPs that are new, for the task's input. */
export function madeOf(interfaces: AddressedInterface[]): { portIds: string[]; floatingIpIds: string[] } {
  return {
    portIds: interfaces.flatMap(({ portId, reserved }) => (reserved ? [] : [portId])),
    floatingIpIds: interfaces.flatMap(({ floatingIp }) => (floatingIp?.made ? [floatingIp.id] : [])),
  };
}
