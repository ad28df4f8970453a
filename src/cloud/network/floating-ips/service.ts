import { isIPv4 } from 'node:net';
import { sql } from 'kysely';
import { make, remove, want } from '../../../convergence/wants.ts';
import { type Place, type Transaction, violates } from '../../../db/database.ts';
import { canonicalAddress } from '../../../lib/cidr.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { foundById, isUuid, newId, newTaskId, refuseHeld } from '../../../lib/ids.ts';
import { tagsOf } from '../../../lib/legacy-metadata.ts';
import type { Page } from '../../../lib/page.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { requireOutside } from '../../../requests/principal.ts';
import { quotaOwner, takeQuota } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import * as tasks from '../../ground/tasks/service.ts';
import * as addresses from '../addresses/in-transaction.ts';
import { type FloatingTarget, lockTarget } from '../ports/in-transaction.ts';
import { presentedFloatingIp } from './presenter.ts';
import type { AssignFloatingIp, CreateFloatingIp, FloatingIpAnswer, FloatingIpListQuery } from './schema.ts';
import * as store from './store.ts';
import { asInRows, awayFrom, CREATE_FIP, DELETE_FIP, floatingIpSpecs } from './tasks.ts';

/** Returns the wanted address of the port; if none is named, the first free one. @throws InvalidError */
export function targetAddress(
  target: FloatingTarget | undefined,
  wish: { port_id: string; fixed_ip_address?: string | null | undefined },
  taken: readonly (string | null)[],
): string {
  if (!target) {
    throw new InvalidError({ port_id: [`No port ${wish.port_id} in this project and region.`] });
  }
  if (target.external) {
    throw new InvalidError({
      port_id: [`Port ${target.id} is in the external network and already has a public address.`],
    });
  }
  const offered = target.addresses.filter((address) => isIPv4(address));
  const given = wish.fixed_ip_address ?? undefined;
  if (given !== undefined) {
    const address = canonicalAddress(given)?.address;
    if (address !== undefined && offered.includes(address)) return address;
    throw new InvalidError({ fixed_ip_address: [`Port ${target.id} has no IPv4 address ${given}.`] });
  }
  const chosen = offered.find((address) => !taken.includes(address)) ?? offered[0];
  if (chosen !== undefined) return chosen;
  throw new InvalidError({
    fixed_ip_address: [
      `Port ${target.id} has no IPv4 address, and floating IPs can only be assigned to IPv4 addresses.`,
    ],
  });
}

export type FloatingIp = store.FloatingIpRow;

/** Floating IPs are IPv4 only. */
const OUTSIDE = { kind: 'external', family: 'IPv4' } as const;

/**
 * Creates a floating IP, which can be read at once. Returns the ID of the task that makes it work.
 * @throws InvalidError, ConflictError, QuotaExceededError
 */
export async function createFloatingIp(on: Platform, scope: Scope, request: CreateFloatingIp): Promise<string> {
  const tags = tagsOf(request);
  const portId = request.port_id ?? undefined;
  if (portId === undefined && (request.fixed_ip_address ?? undefined) !== undefined) {
    throw new InvalidError({ port_id: ['Is required with fixed_ip_address.'] });
  }
  const [id, taskId] = [newId(), newTaskId()];
  return on.database.accept(async (tx) => {
    const target = portId === undefined ? undefined : await freeTarget(tx, scope, { ...request, port_id: portId });
    const wish = { holder: { floatingIp: id }, field: 'region_id', from: OUTSIDE };
    const [taken] = await addresses.take(tx, scope, [wish]);
    if (!taken) throw new TypeError('one wish has one answer');
    const made = { id, address: taken.address, tags };
    tx.about({ type: 'floating_ip', id, name: taken.address });
    await inserted(
      store.insertFloatingIp(
        tx,
        scope,
        { ...made, portId: target?.portId ?? null, fixedAddress: target?.address ?? null },
        taskId,
      ),
    );
    const specs = await floatingIpSpecs(tx, [id]);
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE_FIP,
      data: request,
      input: { floatingIpId: id, ...quotaOwner(scope) },
      wants: [...specs].map(([one, spec]) => make('floating_ip', one, spec)),
    });
    takeQuota(tx, scope, 'floating_count');
    return taskId;
  });
}

export const listFloatingIps = (on: Platform, scope: Scope, query: FloatingIpListQuery): Promise<Page<FloatingIp>> =>
  store.listFloatingIps(on.database.sql, scope, query);

/** @throws NotFoundError */
export const getFloatingIp = (on: Platform, scope: Scope, id: string): Promise<FloatingIp> =>
  foundById('Floating IP', id, () => store.findFloatingIp(on.database.sql, scope, id));

/** Returns the floating IPs on the ports, by port, for features that show the ports. */
export async function floatingIpsOnPorts(
  on: Platform,
  scope: Scope,
  portIds: string[],
): Promise<Map<string, FloatingIpAnswer[]>> {
  const rows = await store.onPorts(on.database.sql, portIds);
  const byPort = new Map<string, FloatingIpAnswer[]>();
  for (const row of rows) {
    const portId = row.port_id ?? '';
    byPort.set(portId, [...(byPort.get(portId) ?? []), presentedFloatingIp(row, scope)]);
  }
  return byPort;
}

/** Assigns it to a port at once. @throws NotFoundError, InvalidError, ConflictError if it or the address is taken */
export const assignFloatingIp = (on: Platform, scope: Scope, id: string, wish: AssignFloatingIp): Promise<void> =>
  on.database.accept(async (tx) => {
    const target = await lockTarget(tx, scope, wish.port_id);
    const floating = await lockFree(tx, scope, id);
    const address = await wantedAddress(tx, target, wish, floating);
    const portId = wish.port_id.toLowerCase();
    if (floating.port_id === portId && floating.fixed_address === address) return;
    refuseLeading(floating);
    if (target) refuseHeld(`Port ${portId}`, target);
    await refuseUnfit(tx, scope, portId, address);
    const change = { port_id: portId, fixed_address: address };
    await inserted(store.changeFloatingIp(tx, floating.id, change));
    await tasks.wantChecked(on, tx, scope, await asInRows(tx, [floating.id]));
  });

/** Does nothing if it isn't assigned. @throws NotFoundError, ConflictError while a task holds it */
export const unassignFloatingIp = (on: Platform, scope: Scope, id: string): Promise<void> =>
  on.database.accept(async (tx) => {
    const floating = await lockFree(tx, scope, id);
    if (floating.port_id === null) return;
    const change = { port_id: null, fixed_address: null };
    await store.changeFloatingIp(tx, floating.id, change);
    await tasks.wantChecked(on, tx, scope, await asInRows(tx, [floating.id]));
  });

/** Returns the task that deletes it, assigned or not. @throws NotFoundError, ConflictError */
export const deleteFloatingIp = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const floating = await lockAlsoHeld(tx, scope, id);
    const again = await tasks.removeAgain(on, tx, scope, floating.task_id, DELETE_FIP);
    if (again !== undefined) return again;
    refuseHeld(`Floating IP ${floating.id}`, floating);
    const taskId = tasks.deletionId(scope);
    await store.hold(tx, [floating.id], taskId);
    return tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_FIP,
      data: { floating_ip_id: floating.id },
      input: { floatingIpId: floating.id, ...quotaOwner(scope) },
      wants: [remove('floating_ip', floating.id)],
    });
  });

/** @throws NotFoundError, ConflictError while a task holds it */
export async function lockFree(tx: Transaction, scope: Scope, id: string): Promise<FloatingIp> {
  const floating = await lockAlsoHeld(tx, scope, id);
  refuseHeld(`Floating IP ${floating.id}`, floating);
  return floating;
}

async function lockAlsoHeld(tx: Transaction, scope: Scope, id: string): Promise<FloatingIp> {
  const [floating] = isUuid(id) ? await store.lockFloatingIps(tx, scope, [id]) : [];
  if (!floating) throw new NotFoundError('Floating IP', id);
  tx.about({ type: 'floating_ip', id: floating.id, name: floating.address });
  return floating;
}

async function freeTarget(
  tx: Transaction,
  scope: Scope,
  wish: AssignFloatingIp,
): Promise<{ portId: string; address: string }> {
  const target = await lockTarget(tx, scope, wish.port_id);
  const address = await wantedAddress(tx, target, wish);
  const portId = wish.port_id.toLowerCase();
  if (target) refuseHeld(`Port ${portId}`, target);
  await refuseUnfit(tx, scope, portId, address);
  return { portId, address };
}

/** Returns the wanted address of the port. If none is named, an assignment to this port stays. @throws InvalidError */
export async function wantedAddress(
  tx: Transaction,
  target: FloatingTarget | undefined,
  wish: AssignFloatingIp,
  floating?: FloatingIp,
): Promise<string> {
  const leading = target ? await store.onPorts(tx.sql, [target.id]) : [];
  const own = leading.find(({ id }) => id === floating?.id);
  const taken = leading.map(({ fixed_address }) => fixed_address);
  return targetAddress(target, { ...wish, fixed_ip_address: wish.fixed_ip_address ?? own?.fixed_address }, taken);
}

/** @throws ConflictError naming the port to which it is assigned */
export function refuseLeading({ id, port_id }: FloatingIp): void {
  if (port_id === null) return;
  throw new ConflictError(`Floating IP ${id} is already assigned to port ${port_id}; unassign it first`);
}

/**
 * @throws ConflictError if the port's address has a floating IP already or no way out, or its instance will be deleted. The
 * port must be locked.
 */
export async function refuseUnfit(tx: Transaction, place: Place, portId: string, address: string): Promise<void> {
  await refuseTaken(tx, portId, address);
  await store.refuseNoWayOut(tx, portId, address);
  const instanceId = await store.instanceOn(tx, portId);
  if (instanceId === null) return;
  await tasks.refuseDoomed(tx, place, `Instance ${instanceId}`, { type: 'delete_vm', id: instanceId });
}

async function refuseTaken(tx: Transaction, portId: string, address: string): Promise<void> {
  const other = (await store.onPorts(tx.sql, [portId])).find((one) => one.fixed_address === address);
  if (other) {
    throw new ConflictError(
      `Floating IP ${other.id} is already assigned to address ${address} of port ${portId}; unassign it first`,
    );
  }
}

/** Catches the conflict of two concurrent requests that both passed the checks above. */
export async function inserted(writing: Promise<void>): Promise<void> {
  await writing.catch((error: unknown) => {
    if (!violates(error, 'floating_ips_target')) throw error;
    throw new ConflictError('Another floating IP is already assigned to the address of the port; unassign it first');
  });
}

export const floatingIpDeletion = waitingDeletion('delete_fip', deleteFloatingIp, ['floating_ip_id']);

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
 * @throws InvalidError, ConflictError for one that is in use, ForbiddenError for who may have no public addresses
 */
export async function plan(
  tx: Transaction,
  scope: Scope,
  wishes: (FloatingIpWish | undefined)[],
): Promise<(PlannedFloatingIp | undefined)[]> {
  if (wishes.some((wish) => wish !== undefined)) requireOutside(scope.principal, scope.projectId);
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
    return { id: existing ?? newId(), field: wish.field, made: existing === undefined };
  });
}

/** Assigns the floating IPs to their ports, held by the task. `address` is the public address of a new floating IP. */
export async function put(
  tx: Transaction,
  scope: Scope,
  links: { floatingIp: PlannedFloatingIp; address: string | undefined; port: FloatingIpPort }[],
  taskId: string,
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
      await inserted(store.changeFloatingIp(tx, floatingIp.id, change));
    } else {
      const made = { id: floatingIp.id, address, portId: port.id, fixedAddress: port.address, tags: {} };
      await inserted(store.insertFloatingIp(tx, scope, made, taskId));
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
  await tasks.refuseForeign(scope, foreign, {
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
): Promise<string[]> {
  const gone = await store.letGo(tx, taskId, { portIds, doomed });
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
): Promise<void> {
  await sql`
    insert into floating_ips (id, project_id, region_id, address, tags, creator_task_id, created_at, updated_at)
    select ${id}::uuid, project_id, region_id, address, '{}', ${taskId}::uuid, ${tx.now}::timestamptz, ${tx.now}::timestamptz
    from ports join ip_assignments on port_id = ports.id where ports.id = ${portId}`.execute(tx.sql);
  await addresses.handOver(tx, portId, id);
}
