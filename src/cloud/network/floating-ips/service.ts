import { randomUUID } from 'node:crypto';
import { make, remove } from '../../../convergence/wants.ts';
import { type Transaction, violates } from '../../../db/database.ts';
import type { Place } from '../../../db/place.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { foundById } from '../../../lib/found.ts';
import { refuseHeld } from '../../../lib/held.ts';
import { isUuid, newTaskId } from '../../../lib/ids.ts';
import { tagsOf } from '../../../lib/legacy-metadata.ts';
import type { Page } from '../../../lib/page.ts';
import type { Platform } from '../../../platform.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { quotaOwner, takeQuota } from '../../ground/quotas/in-transaction.ts';
import type { Rest, WaitingDeletion } from '../../ground/tasks/behind/service.ts';
import { refuseDoomed } from '../../ground/tasks/in-transaction.ts';
import { beginTask, deletionId, removeAgain, wantChecked } from '../../ground/tasks/service.ts';
import * as addresses from '../addresses/in-transaction.ts';
import { type FloatingTarget, lockTarget } from '../ports/in-transaction.ts';
import { presentedFloatingIp } from './presenter.ts';
import type { AssignFloatingIp, CreateFloatingIp, FloatingIpAnswer, FloatingIpListQuery } from './schema.ts';
import * as store from './store.ts';
import { targetAddress } from './target.ts';
import { CREATE_FIP, DELETE_FIP } from './tasks.ts';
import { asInRows, floatingIpSpecs } from './wanted.ts';
import { refuseNoWayOut } from './way-out.ts';

export type FloatingIp = store.FloatingIpRow;

/** Floating IPs are IPv4 only. */
const OUTSIDE = { kind: 'external', family: 'IPv4' } as const;

/**
 * Creates a floating IP, which can be read at once. Returns the ID of the task that makes it work.
 * @throws InvalidError, ConflictError, QuotaExceededError
 */
export async function createFloatingIp(
  on: Platform,
  scope: Scope,
  request: CreateFloatingIp,
): Promise<string> {
  const tags = tagsOf(request);
  const portId = request.port_id ?? undefined;
  if (portId === undefined && (request.fixed_ip_address ?? undefined) !== undefined) {
    throw new InvalidError({ port_id: ['Is required with fixed_ip_address.'] });
  }
  const [id, taskId] = [randomUUID(), newTaskId()];
  return on.database.accept(async (tx) => {
    const target =
      portId === undefined ? undefined : await freeTarget(tx, scope, { ...request, port_id: portId });
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
        tx.now,
      ),
    );
    const specs = await floatingIpSpecs(tx, [id]);
    await beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE_FIP,
      data: request,
      input: { floatingIpId: id, ...quotaOwner(scope) },
      wants: [...specs].map(([one, spec]) => make('floating_ip', one, spec)),
    });
    await takeQuota(tx, scope, 'floating_count');
    return taskId;
  });
}

export const listFloatingIps = (
  on: Platform,
  scope: Scope,
  query: FloatingIpListQuery,
): Promise<Page<FloatingIp>> => store.listFloatingIps(on.database.sql, scope, query);

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
export const assignFloatingIp = (
  on: Platform,
  scope: Scope,
  id: string,
  wish: AssignFloatingIp,
): Promise<void> =>
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
    await inserted(store.changeFloatingIp(tx, floating.id, change, tx.now));
    await wantChecked(on, tx, scope, await asInRows(tx, [floating.id]));
  });

/** Does nothing if it isn't assigned. @throws NotFoundError, ConflictError while a task holds it */
export const unassignFloatingIp = (on: Platform, scope: Scope, id: string): Promise<void> =>
  on.database.accept(async (tx) => {
    const floating = await lockFree(tx, scope, id);
    if (floating.port_id === null) return;
    const change = { port_id: null, fixed_address: null };
    await store.changeFloatingIp(tx, floating.id, change, tx.now);
    await wantChecked(on, tx, scope, await asInRows(tx, [floating.id]));
  });

/** Returns the task that deletes it, assigned or not. @throws NotFoundError, ConflictError */
export const deleteFloatingIp = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const floating = await lockAlsoHeld(tx, scope, id);
    const again = await removeAgain(on, tx, scope, floating.task_id, DELETE_FIP);
    if (again !== undefined) return again;
    refuseHeld(`Floating IP ${floating.id}`, floating);
    const taskId = deletionId(scope);
    await store.hold(tx, [floating.id], taskId);
    return beginTask(on, tx, scope, {
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
  return targetAddress(
    target,
    { ...wish, fixed_ip_address: wish.fixed_ip_address ?? own?.fixed_address },
    taken,
  );
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
export async function refuseUnfit(
  tx: Transaction,
  place: Place,
  portId: string,
  address: string,
): Promise<void> {
  await refuseTaken(tx, portId, address);
  await refuseNoWayOut(tx, portId, address);
  const instanceId = await store.instanceOn(tx, portId);
  if (instanceId === null) return;
  await refuseDoomed(tx, place, `Instance ${instanceId}`, { type: 'delete_vm', id: instanceId });
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
    throw new ConflictError(
      'Another floating IP is already assigned to the address of the port; unassign it first',
    );
  });
}

/** A deletion that may wait for what still uses the thing. */
export const floatingIpDeletion: WaitingDeletion<Rest<typeof deleteFloatingIp>> = {
  type: 'delete_fip',
  remove: deleteFloatingIp,
  names: ['floating_ip_id'],
  options: [],
};
