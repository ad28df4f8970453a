import { remove } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { foundById, refuseHeld } from '../../../lib/ids.ts';
import type { Page } from '../../../lib/page.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { lockInstance, type PlainInstance, refuseNode } from '../../ground/hosts/in-transaction.ts';
import type { VmState } from '../../ground/hosts/states.ts';
import { quotaOwner } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import { beginTask, deletionId, refuseForeign, removeAgain } from '../../ground/tasks/service.ts';
import * as floatingIps from '../../network/floating-ips/service.ts';
import { existingReserved, lockPortsOf } from '../../network/ports/reserved/in-transaction.ts';
import * as instanceVolumes from '../../storage/volumes/of-instances/in-transaction.ts';
import { presentedInstance } from './presenter.ts';
import type { InstanceAnswer } from './schema.ts';
import * as store from './store.ts';
import { DELETE_VM, withoutTarget } from './tasks.ts';

/**
 * Locks an instance for a change.
 * @throws NotFoundError, ConflictError for a cluster's node or while a task holds it
 */
export async function lockFreeInstance(tx: Transaction, scope: Scope, id: string): Promise<PlainInstance> {
  const instance = await lockKnownInstance(tx, scope, id);
  await refuseNode(tx, instance);
  refuseHeld(`Instance ${instance.id}`, instance);
  return instance;
}

/** Locks the instance even if a task holds it. @throws NotFoundError */
export async function lockKnownInstance(tx: Transaction, scope: Scope, id: string): Promise<PlainInstance> {
  const instance = await foundById('Instance', id, () => lockInstance(tx, scope, id));
  tx.about({ ...instance, type: 'instance' });
  return instance;
}

/** @throws ConflictError unless the instance is in one of the states, in which Nova allows it to `what` */
export function requireState(instance: PlainInstance, what: string, from: readonly VmState[]): void {
  if (from.includes(instance.vm_state)) return;
  throw new ConflictError(
    `Instance ${instance.id} is ${instance.vm_state} (status ${instance.status}); to ${what} it must be ${from.join(' or ')}${instance.vm_state === 'error' ? '; a hard reboot makes it run again' : ''}`,
  );
}

const AS_LISTED = { subnets: false, interfaceNames: false };

export interface Removal {
  volumes: string[];
  floatings: string[];
  reservedFixedIps: string[];
  deleteFloatings: boolean;
}

export const listInstances = (on: Platform, scope: Scope, filter: store.InstanceFilter) =>
  store.listInstances(on.database.sql, scope, filter);

/** @throws NotFoundError */
export const getInstance = (on: Platform, scope: Scope, id: string): Promise<store.InstanceRow> =>
  foundById('Instance', id, () => store.findInstance(on.database.sql, scope, id));

/** Returns the list as other features show it. */
export async function shownInstances(
  on: Platform,
  scope: Scope,
  filter: store.InstanceFilter,
): Promise<Page<InstanceAnswer>> {
  const { count, rows } = await store.listInstances(on.database.sql, scope, filter);
  return { count, rows: rows.map((row) => presentedInstance(row, scope, AS_LISTED)) };
}

/** Returns the instance on each port, as lists show it, by the port's ID. */
export async function instancesOnPorts(
  on: Platform,
  scope: Scope,
  portIds: string[],
): Promise<Map<string, InstanceAnswer>> {
  if (portIds.length === 0) return new Map();
  const rows = await store.instancesOnPorts(on.database.sql, scope, portIds);
  return new Map(
    rows.flatMap(({ port_ids, ...row }) => {
      const instance = presentedInstance(row, scope, AS_LISTED);
      return port_ids.map((portId) => [portId, instance] as const);
    }),
  );
}

/** Starts the task that deletes an instance. Returns its ID. @throws NotFoundError, InvalidError, ConflictError */
export async function deleteInstance(on: Platform, scope: Scope, id: string, removal: Removal): Promise<string> {
  const taskId = deletionId(scope);
  return on.database.accept(async (tx) => {
    const instance = await lockKnownInstance(tx, scope, id);
    const again = await removeAgain(on, tx, scope, instance.task_id, DELETE_VM);
    if (again !== undefined) return again;
    await refuseNode(tx, instance);
    // Before it may have to wait.
    await checkNamed(tx, scope, instance, removal);
    refuseHeld(`Instance ${instance.id}`, instance);
    const { reservedPortIds, gonePortIds, floatingIpIds, heldFloatingIpIds } = await holdAddresses(
      tx,
      instance.id,
      removal,
      taskId,
    );
    const volumeIds = await instanceVolumes.holdForRemoval(tx, [instance.id], removal.volumes, taskId);
    await store.changeInstance(tx, instance.id, { task_state: 'deleting', task_id: taskId });
    return beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_VM,
      data: {
        instance_id: instance.id,
        volumes: volumeIds,
        floatings: floatingIpIds,
        reserved_fixed_ips: reservedPortIds,
      },
      input: { instanceId: instance.id, volumeIds, reservedPortIds, floatingIpIds, ...quotaOwner(scope) },
      wants: [
        remove('machine', instance.id),
        ...volumeIds.map((one) => remove('volume', one)),
        ...withoutTarget(heldFloatingIpIds, floatingIpIds),
        ...gonePortIds.map((one) => remove('port', one)),
      ],
    });
  });
}

/**
 * Locks what the instance has, in the order of its removal. While a task holds the instance it is only looked at, as the
 * task locks the instance last.
 * @throws InvalidError for something that is named and not the instance's, ConflictError if it is on its way from it
 */
async function checkNamed(
  tx: Transaction,
  scope: Scope,
  { id: instanceId, task_id }: PlainInstance,
  { volumes, floatings, reservedFixedIps, deleteFloatings }: Removal,
): Promise<void> {
  if (deleteFloatings && floatings.length > 0) {
    throw new InvalidError({ delete_floatings: ['Send either floatings or delete_floatings, not both.'] });
  }
  if (volumes.length + floatings.length + reservedFixedIps.length === 0) return;
  const locking = { lock: task_id === null };
  const ports = await lockPortsOf(tx, instanceId, locking);
  const foreign = reservedFixedIps.filter((id) => !ports.some((port) => port.reserved && port.id === id));
  await refuseForeign(scope, foreign, {
    field: 'reserved_fixed_ips',
    message: 'Not a reserved fixed IP of this instance',
    what: 'Reserved fixed IP',
    stillThere: (ids) => existingReserved(tx, scope, ids),
  });
  // A deletion that waited for the task might not find it there any more.
  const held = ports.find(({ id, task_id }) => task_id !== null && reservedFixedIps.includes(id));
  if (held) {
    throw new ConflictError(
      `Reserved fixed IP ${held.id} is held by task ${held.task_id}; wait until it ends, then try again`,
    );
  }
  const portIds = ports.map(({ id }) => id);
  await floatingIps.checkNamed(tx, scope, portIds, floatings, locking);
  await instanceVolumes.checkNamed(tx, scope, [instanceId], volumes, locking);
}

/** Holds the floating IPs and finds what is deleted with the instance. @throws ConflictError */
async function holdAddresses(tx: Transaction, instanceId: string, removal: Removal, taskId: string) {
  const ports = await lockPortsOf(tx, instanceId);
  const reserved = ports.filter((port) => port.reserved);
  const named = reserved.filter(({ id }) => removal.reservedFixedIps.includes(id));
  // If a held port stayed, its task would put groups on it although no instance has it any more.
  for (const port of reserved) refuseHeld(`Port ${port.id}`, port);
  const portIds = ports.map(({ id }) => id);
  const { held, doomed } = await floatingIps.hold(tx, portIds, removal, taskId);
  const reservedPortIds = named.map(({ id }) => id);
  return {
    reservedPortIds,
    gonePortIds: ports.filter((port) => !port.reserved || reservedPortIds.includes(port.id)).map(({ id }) => id),
    floatingIpIds: doomed,
    heldFloatingIpIds: held,
  };
}

export const instanceDeletion = waitingDeletion('delete_vm', deleteInstance, ['instance_id']);
