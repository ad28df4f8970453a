import { sql, type Updateable } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { want } from '../../../../convergence/wants.ts';
import { belongsTo, newResource, type Place, type Transaction } from '../../../../db/database.ts';
import type { Tables } from '../../../../db/tables.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import { refuseHeld } from '../../../../lib/ids.ts';
import { familyOf } from '../../../../lib/ip-addresses.ts';
import type { Scope } from '../../../../platform.ts';
import { requireOutside } from '../../../../requests/principal.ts';
import type { HeldAddress } from '../../addresses/in-transaction.ts';
import { familiesOf, type IpFamilyWish } from '../../addresses/schema.ts';
import { takeOffAllGroups } from '../groups/in-transaction.ts';
import { withoutGroups } from '../tasks.ts';

export interface ReservedPort {
  id: string;
  networkId: string;
  external: boolean;
  securityEnabled: boolean;
  /** At least one; an IPv4 address comes first. */
  addresses: HeldAddress[];
}

/** The reserved port that an interface asks for. `field` is its field in the request. */
export interface ReservedPortWish {
  portId: string;
  ipFamily: IpFamilyWish;
  field: string;
}

/**
 * Locks the wanted ports until the transaction ends, and returns them by ID.
 * @throws InvalidError for an unknown port, ConflictError for a VIP and for a port that is attached or held by a task,
 * ForbiddenError for who may have no public addresses
 */
export async function lockReserved(
  tx: Transaction,
  scope: Scope,
  wishes: ReservedPortWish[],
): Promise<Map<string, ReservedPort>> {
  if (wishes.length === 0) return new Map();
  const rows = await lockedRows(
    tx,
    scope,
    wishes.map(({ portId }) => portId),
  );
  const problems = wishes.flatMap(({ portId, field: at }, index): FieldProblem[] => {
    const field = `${at}.port_id`;
    if (!rows.some((row) => row.id === portId)) {
      return [{ field, message: `No reserved fixed IP with port ${portId} in this project and region.` }];
    }
    const twice = wishes.findIndex((one) => one.portId === portId) < index;
    return twice ? [{ field, message: `Port ${portId} is listed twice.` }] : [];
  });
  problems.push(...wishes.flatMap((wish) => familyProblems(wish, rows)));
  if (problems.length > 0) throw new InvalidError(problems);
  if (rows.some(({ external }) => external)) requireOutside(scope.principal, scope.projectId);
  for (const row of rows) {
    refuseHeld(`Port ${row.id}`, row);
    if (row.is_vip) {
      throw new ConflictError(
        `Port ${row.id} is a virtual IP (VIP), which can't be attached to an instance; connect a port of the instance to it, or set its is_vip to false first`,
      );
    }
    if (row.load_balancer_id !== null) {
      throw new ConflictError(
        `Port ${row.id} has the virtual address of load balancer ${row.load_balancer_id}; delete that one first`,
      );
    }
    if (row.instance_id !== null) {
      throw new ConflictError(
        `Port ${row.id} is already attached to instance ${row.instance_id}; detach it there first`,
      );
    }
  }
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        networkId: row.network_id,
        external: row.external,
        securityEnabled: row.port_security_enabled,
        addresses: row.addresses,
      },
    ]),
  );
}

async function lockedRows(tx: Transaction, place: Place, ids: string[]) {
  // Every port has an address: an update that would leave none is refused.
  return tx.sql
    .selectFrom('ports')
    .innerJoin('networks', 'networks.id', 'ports.network_id')
    .select(['ports.id', 'ports.network_id', 'ports.instance_id', 'ports.task_id', 'is_vip', 'external'])
    .select('ports.load_balancer_id')
    .select('ports.port_security_enabled')
    .select((port) =>
      jsonArrayFrom(
        port
          .selectFrom('ip_assignments')
          .select([sql<string>`host(address)`.as('address'), 'subnet_id as subnetId'])
          .whereRef('port_id', '=', 'ports.id')
          .orderBy('address'),
      ).as('addresses'),
    )
    .where(sql<boolean>`ports.id = any(${ids}::uuid[])`)
    .where('ports.reserved', '=', true)
    .where(belongsTo(place, 'ports'))
    .orderBy('ports.id')
    .forUpdate('ports')
    .execute();
}

/** If the request names a family, the port's existing addresses must be of it. */
function familyProblems(
  { portId, ipFamily, field }: ReservedPortWish,
  rows: { id: string; addresses: HeldAddress[] }[],
): FieldProblem[] {
  const row = rows.find(({ id }) => id === portId);
  if (!row || ipFamily === null || ipFamily === undefined) return [];
  const there = new Set(row.addresses.map(({ address }) => familyOf(address)));
  const wanted = familiesOf(ipFamily);
  if (wanted.length === there.size && wanted.every((family) => there.has(family))) return [];
  const message = `Port ${portId} has ${[...there].join(' and ')} addresses; leave ip_family out.`;
  return [{ field: `${field}.ip_family`, message }];
}

/** Attaches reserved ports to an instance at their positions among the interfaces. The ports must be locked. */
export async function attachReserved(
  tx: Transaction,
  instanceId: string,
  ports: { id: string; interfaceName: string | null; position: number; taskId: string | null }[],
): Promise<void> {
  if (ports.length === 0) return;
  const ids = ports.map(({ id }) => id);
  await takeOffAllGroups(tx, ids);
  await sql`
    update ports set instance_id = ${instanceId}, interface_name = given.interface_name, position = given.position,
      task_id = given.task_id, updated_at = ${tx.now}
    from unnest(${ids}::uuid[], ${ports.map((one) => one.interfaceName)}::text[],
      ${ports.map((one) => one.position)}::int[], ${ports.map((one) => one.taskId)}::uuid[])
      as given (id, interface_name, position, task_id)
    where ports.id = given.id`.execute(tx.sql);
}

/**
 * Detaches reserved ports and keeps them. Removes their groups, which belonged to the instance. Ends the task's hold
 * on them, but not that of another task.
 */
export async function freeReserved(tx: Transaction, taskId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await takeOffAllGroups(tx, ids);
  await tx.sql
    .updateTable('ports')
    .set({ instance_id: null, interface_name: null, position: 0, updated_at: tx.now })
    .set({ task_id: sql`nullif(task_id, ${taskId})` })
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute();
  await want(tx, null, withoutGroups(ids));
}

/** Locks the ports of an instance, always in the same order, unless they are only looked at, and returns them. */
export async function lockPortsOf(
  tx: Transaction,
  instanceId: string,
  { lock }: { lock: boolean } = { lock: true },
): Promise<{ id: string; reserved: boolean; task_id: string | null }[]> {
  const ports = tx.sql
    .selectFrom('ports')
    .select(['id', 'reserved', 'task_id'])
    .where('instance_id', '=', instanceId)
    .orderBy('id');
  return (lock ? ports.forUpdate() : ports).execute();
}

/** Returns those of the reserved ports that the project still has. */
export async function existingReserved(tx: Transaction, place: Place, ids: readonly string[]): Promise<string[]> {
  const found = await tx.sql
    .selectFrom('ports')
    .select('id')
    .where(belongsTo(place))
    .where('reserved', '=', true)
    .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
    .execute();
  return found.map(({ id }) => id);
}

export async function insertReserved(
  tx: Transaction,
  place: Place,
  port: { id: string; networkId: string; isVip: boolean },
  taskId: string,
): Promise<void> {
  await tx.sql
    .insertInto('ports')
    .values({
      id: port.id,
      network_id: port.networkId,
      instance_id: null,
      name: `port-${port.id}`,
      interface_name: null,
      position: 0,
      port_security_enabled: true,
      reserved: true,
      is_vip: port.isVip,
      tags: JSON.stringify({}),
      ...newResource(place, taskId, tx.now),
    })
    .execute();
}

/** Returns a hardware address for a port whose row comes later. */
export async function newMacAddress(tx: Transaction): Promise<string> {
  const { rows } = await sql<{ mac: string }>`
    select ('02' || lpad(to_hex(nextval('port_macs')), 10, '0'))::macaddr::text as mac`.execute(tx.sql);
  const [row] = rows;
  if (!row) throw new TypeError('a sequence always has a next value');
  return row.mac;
}

/** Inserts a reserved port in the network of a floating IP, which then hands its address over. */
export async function insertReservedFor(
  tx: Transaction,
  floatingIpId: string,
  { id, macAddress, taskId }: { id: string; macAddress: string; taskId: string },
): Promise<void> {
  await sql`
    insert into ports (id, network_id, project_id, region_id, name, position, mac_address, port_security_enabled,
      reserved, tags, creator_task_id, created_at, updated_at)
    select ${id}::uuid, network_id, project_id, region_id, ${`port-${id}`}, 0, ${macAddress}::macaddr, true,
      true, '{}', ${taskId}::uuid, ${tx.now}::timestamptz, ${tx.now}::timestamptz
    from floating_ips join ip_assignments on floating_ip_id = floating_ips.id
    join subnets on subnets.id = subnet_id where floating_ips.id = ${floatingIpId}`.execute(tx.sql);
}

export async function changeReserved(tx: Transaction, id: string, change: Updateable<Tables['ports']>): Promise<void> {
  await tx.sql.updateTable('ports').set(change).where('id', '=', id).execute();
}

/** Returns false if there was no such port. */
export async function deleteReserved(tx: Transaction, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.sql.deleteFrom('ports').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Pairs are sorted by address and hardware address, as in `pairsFrom`. */
const ORDER = sql`concat_ws(' ', pair ->> 'ip_address', pair ->> 'mac_address') collate "C"`;

/** Adds the addresses that are missing to the ports' address pairs. */
export async function addPairs(tx: Transaction, addresses: readonly string[], ids: string[]): Promise<void> {
  await sql`
    update ports set updated_at = ${tx.now}, allowed_address_pairs = (
      select jsonb_agg(pair order by ${ORDER}) from (
        select pair from jsonb_array_elements(allowed_address_pairs) as pair
        union
        select jsonb_build_object('ip_address', address) from unnest(${addresses}::text[]) as address
      ) as pairs)
    where id = any(${ids}::uuid[])`.execute(tx.sql);
}

export async function removePairs(tx: Transaction, addresses: readonly string[], ids: string[]): Promise<void> {
  await sql`
    update ports set updated_at = ${tx.now}, allowed_address_pairs = coalesce((
      select jsonb_agg(pair order by ${ORDER})
      from jsonb_array_elements(allowed_address_pairs) as pair
      where not pair ->> 'ip_address' = any(${addresses}::text[])), '[]')
    where id = any(${ids}::uuid[])`.execute(tx.sql);
}
