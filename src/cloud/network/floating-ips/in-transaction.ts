import { randomUUID } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { sql } from 'kysely';
import { want } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { refuseHeld } from '../../../lib/held.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { refuseForeign } from '../../ground/tasks/in-transaction.ts';
import { handOver } from '../addresses/in-transaction.ts';
import { inserted, refuseLeading, refuseUnfit } from './service.ts';
import * as store from './store.ts';
import { awayFrom } from './wanted.ts';

/** The floating IPs of instances, from creation to removal. Lock ports before them and subnets after them. */

export { settle } from './store.ts';

/** The floating IP that an interface asks for. `field` is its field in the request. */
export interface FloatingIpWish {
  field: string;
  source: 'new' | 'existing';
  existing_floating_id?: string | undefined;
  /** The port of the interface, if it exists already. */
  portId?: string;
}

/** A floating IP that will be created, or an existing one, which is locked. */
export interface PlannedFloatingIp {
  id: string;
  field: string;
  made: boolean;
}

export interface FloatingIpPort {
  id: string;
  address: string;
  external: boolean;
}

/**
 * Returns floating IPs in the order of the wishes; undefined if nothing has to be done, since it leads to the port already.
 * @throws InvalidError, ConflictError for one that is in use
 */
export async function plan(
  tx: Transaction,
  scope: Scope,
  wishes: (FloatingIpWish | undefined)[],
): Promise<(PlannedFloatingIp | undefined)[]> {
  const ids = wishes.flatMap((wish) => wish?.existing_floating_id?.toLowerCase() ?? []);
  const found = new Map((await store.lockFloatingIps(tx, scope, ids)).map((row) => [row.id, row]));
  const problems = wishes.flatMap((wish, index): FieldProblem[] => {
    const id = wish?.existing_floating_id?.toLowerCase();
    if (wish === undefined || id === undefined) return [];
    const field = `${wish.field}.existing_floating_id`;
    if (!found.has(id)) return [{ field, message: `No floating IP ${id} in this project and region.` }];
    const twice = wishes.findIndex((one) => one?.existing_floating_id?.toLowerCase() === id) < index;
    return twice ? [{ field, message: `Floating IP ${id} is listed twice.` }] : [];
  });
  if (problems.length > 0) throw new InvalidError(problems);
  for (const row of found.values()) refuseHeld(`Floating IP ${row.id}`, row);
  return wishes.map((wish) => {
    if (!wish) return undefined;
    const existing = wish.existing_floating_id?.toLowerCase();
    const row = existing === undefined ? undefined : found.get(existing);
    if (row && row.port_id !== null && row.port_id === wish.portId) return undefined;
    if (row) refuseLeading(row);
    return { id: existing ?? randomUUID(), field: wish.field, made: existing === undefined };
  });
}

/** Assigns the floating IPs to their ports, held by the task. `address` is the public address of a new floating IP. */
export async function put(
  tx: Transaction,
  scope: Scope,
  links: { floatingIp: PlannedFloatingIp; address: string | undefined; port: FloatingIpPort }[],
  taskId: string,
  now: Date,
): Promise<void> {
  const problems = links.flatMap(({ floatingIp, port }): FieldProblem[] => {
    if (port.external) {
      return [
        {
          field: floatingIp.field,
          message: 'The interface already has a public address from the external network.',
        },
      ];
    }
    return isIPv4(port.address)
      ? []
      : [{ field: floatingIp.field, message: 'Floating IPs can only be assigned to IPv4 addresses.' }];
  });
  if (problems.length > 0) throw new InvalidError(problems);
  for (const { floatingIp, address, port } of links) {
    await refuseUnfit(tx, scope, port.id, port.address);
    if (address === undefined) {
      const change = { port_id: port.id, fixed_address: port.address, task_id: taskId };
      await inserted(store.changeFloatingIp(tx, floatingIp.id, change, now));
    } else {
      const made = { id: floatingIp.id, address, portId: port.id, fixedAddress: port.address, tags: {} };
      await inserted(store.insertFloatingIp(tx, scope, made, taskId, now));
    }
  }
}

/**
 * Locks the floating IPs on the ports for a deletion that names some of them, or only looks at them.
 * @throws InvalidError for a named one that isn't on the ports, ConflictError if it was when the deletion was accepted
 */
export async function checkNamed(
  tx: Transaction,
  scope: Scope,
  portIds: string[],
  named: readonly string[],
  { lock }: { lock: boolean },
): Promise<void> {
  const there = lock ? await store.lockOnPorts(tx, portIds) : await store.onPorts(tx.sql, portIds);
  const foreign = named.filter((id) => !there.some((row) => row.id === id));
  await refuseForeign(scope, foreign, {
    field: 'floatings',
    message: 'Not assigned to this instance',
    what: 'Floating IP',
    stillThere: (ids) => store.staying(tx.sql, scope, ids),
  });
}

/**
 * Holds all floating IPs on the ports for the task. The doomed ones will be deleted with the ports.
 * @throws ConflictError while a task holds one
 */
export async function hold(
  tx: Transaction,
  portIds: string[],
  { floatings, deleteFloatings }: { floatings: string[]; deleteFloatings: boolean },
  taskId: string,
): Promise<{ held: string[]; doomed: string[] }> {
  const there = await store.lockOnPorts(tx, portIds);
  for (const row of there) refuseHeld(`Floating IP ${row.id}`, row);
  const ids = there.map((row) => row.id);
  await store.hold(tx, ids, taskId);
  return { held: ids, doomed: deleteFloatings ? ids : ids.filter((id) => floatings.includes(id)) };
}

/** Does what the store's `letGo` does. The caller releases quota and addresses of the returned floating IPs. */
export async function letGo(
  tx: Transaction,
  taskId: string,
  { portIds, doomed }: { portIds: string[]; doomed: string[] },
  now: Date,
): Promise<string[]> {
  const gone = await store.letGo(tx, taskId, { portIds, doomed }, now);
  // Covers floating IPs that were assigned to the ports after the task began.
  await want(tx, null, await awayFrom(tx, portIds));
  return gone;
}

/**
 * Turns the address of a port in the external network into a floating IP, without a moment in which it is free. The
 * port then has no address, and the caller deletes the port.
 */
export async function floatingIpOfPort(
  tx: Transaction,
  { id, portId, taskId }: { id: string; portId: string; taskId: string },
  now: Date,
): Promise<void> {
  await sql`
    insert into floating_ips (id, project_id, region_id, address, tags, creator_task_id, created_at, updated_at)
    select ${id}::uuid, project_id, region_id, address, '{}', ${taskId}::uuid, ${now}::timestamptz, ${now}::timestamptz
    from ports join ip_assignments on port_id = ports.id where ports.id = ${portId}`.execute(tx.sql);
  await handOver(tx, portId, id);
}
