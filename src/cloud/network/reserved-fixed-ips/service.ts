import type { TaskType } from '../../../convergence/task-kind.ts';
import { isToGo, make, put, remove, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { foundById, newId, newTaskId, refuseHeld } from '../../../lib/ids.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { refuseNode } from '../../ground/hosts/in-transaction.ts';
import { type QuotaOwner, quotaOwner, takeQuota } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import { beginTask, deletionId, removeAgain, usedBy, wantChecked } from '../../ground/tasks/service.ts';
import * as addresses from '../addresses/in-transaction.ts';
import { familiesOf, wishedAddresses } from '../addresses/schema.ts';
import { awayFrom } from '../floating-ips/tasks.ts';
import { changeReserved, insertReserved } from '../ports/reserved/in-transaction.ts';
import { portSpecs } from '../ports/tasks.ts';
import type { CreateReservedFixedIp, ReservedFixedIpListQuery } from './schema.ts';
import * as store from './store.ts';
import { CONVERT_ADDRESS, FREE_ADDRESS, RESERVE_ADDRESS, type ReservedInput } from './tasks.ts';
import { addressesOf } from './vip-store.ts';

type OfPort = Extract<CreateReservedFixedIp, { type: 'port' }>;
type OfAddress = Exclude<CreateReservedFixedIp, OfPort>;

/**
 * Takes addresses, which can be read at once, or keeps a port with its addresses. Returns the ID of the task that
 * creates the reservation.
 * @throws InvalidError, ConflictError when an address is taken, none is left or the port can't be kept,
 * QuotaExceededError
 */
export function createReservedFixedIp(on: Platform, scope: Scope, request: CreateReservedFixedIp): Promise<string> {
  const taskId = newTaskId();
  return on.database.accept(async (tx) => {
    const input =
      request.type === 'port' ? await keptPort(tx, scope, request, taskId) : await newPort(tx, scope, request, taskId);
    // A port that would be deleted with its instance or load balancer stays from now on.
    const wanted = [...(await portSpecs(tx, [input.portId]))].map(([id, spec]) => put('port', id, spec));
    await begin(on, tx, scope, RESERVE_ADDRESS, { taskId, data: request, input, wants: wanted });
    takeQuota(tx, scope, 'reserved_fixed_ip_count');
    return taskId;
  });
}

export const listReservedFixedIps = (on: Platform, scope: Scope, query: ReservedFixedIpListQuery) =>
  store.listReserved(on.database.sql, scope, query);

/** @throws NotFoundError */
export const getReservedFixedIp = (on: Platform, scope: Scope, id: string): Promise<store.ReservedRow> =>
  foundById('Reserved fixed IP', id, () => store.findReserved(on.database.sql, scope, id));

/**
 * Returns the task that releases it. The port of a load balancer that was reserved later is the load balancer's own
 * again, and goes with it.
 * @throws NotFoundError, ConflictError if it is in use otherwise or a task holds it
 */
export const deleteReservedFixedIp = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const port = await lockAlsoHeld(tx, scope, id);
    const again = await removeAgain(on, tx, scope, port.task_id, FREE_ADDRESS);
    if (again !== undefined) return again;
    const stays = await store.isOwnOfBalancer(tx, port);
    if (stays) refuseHeld(`Reserved fixed IP ${port.id}`, port);
    else await refuseUsed(tx, port);
    const taskId = deletionId(scope);
    await changeReserved(tx, port.id, { task_id: taskId });
    await begin(on, tx, scope, FREE_ADDRESS, {
      taskId,
      data: { port_id: port.id },
      input: { portId: port.id, stays },
      wants: stays ? await notReserved(tx, port.id) : [remove('port', port.id)],
    });
    if (!stays) await wantChecked(on, tx, scope, await awayFrom(tx, [port.id]), { removes: true });
    return taskId;
  });

/**
 * Returns the task that turns it into a floating IP with the same address.
 * @throws NotFoundError, ConflictError if it is in use, private, virtual or IPv6, QuotaExceededError
 */
export const convertReservedFixedIp = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const port = await lockAlsoHeld(tx, scope, id);
    await refuseUsed(tx, port);
    const address = await onlyAddress(tx, port);
    const [taskId, floatingIpId] = [newTaskId(), newId()];
    await changeReserved(tx, port.id, { task_id: taskId });
    await begin(on, tx, scope, CONVERT_ADDRESS, {
      taskId,
      data: { port_id: port.id },
      input: { portId: port.id, floatingIpId },
      wants: [
        remove('port', port.id),
        make('floating_ip', floatingIpId, { address, formerPortId: port.id, metadata: {} }),
      ],
    });
    takeQuota(tx, scope, 'floating_count');
    return taskId;
  });

async function newPort(tx: Transaction, scope: Scope, request: OfAddress, taskId: string) {
  const id = newId();
  const wishes = sourcesOf(request).map((from) => ({ holder: { port: id }, field: '', from }));
  const [taken] = await addresses.take(tx, scope, wishes);
  if (!taken) throw new TypeError('every wish has an answer');
  tx.about({ type: 'port', id, name: taken.address });
  const port = { id, networkId: taken.networkId, isVip: request.is_vip ?? false };
  await insertReserved(tx, scope, port, taskId);
  return { portId: id };
}

/** Reserves a port in use. It stays there, and is kept when the instance or the load balancer is deleted. */
async function keptPort(tx: Transaction, scope: Scope, request: OfPort, taskId: string) {
  const { port_id: id, is_vip: isVip = false } = request;
  if (isVip) {
    throw new InvalidError({ is_vip: ["A port in use can't be a VIP; leave it out."] });
  }
  const port = await store.lockPortToReserve(tx, scope, id);
  if (port && (await isToGo(tx, { kind: 'port', id: port.id }))) {
    const user = port.load_balancer_id === null ? 'instance' : 'load balancer';
    throw new ConflictError(`Port ${port.id} is being removed with its ${user}`);
  }
  if (!port) throw new InvalidError({ port_id: [`No port ${id} in this project and region.`] });
  tx.about({ type: 'port', ...port });
  if (port.balancer_status === 'PENDING_CREATE') {
    throw new ConflictError(
      `Load balancer ${port.load_balancer_id} is still being created; reserve its port ${port.id} afterwards`,
    );
  }
  if (port.reserved) throw new ConflictError(`Port ${port.id} is already a reserved fixed IP`);
  await refuseNode(tx, { id: port.instance_id ?? '', pool_id: port.pool_id });
  refuseHeld(`Port ${port.id}`, port);
  const held = { reserved: true, creator_task_id: taskId, task_id: taskId };
  await changeReserved(tx, port.id, held);
  return { portId: port.id, existed: true };
}

function begin(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  task: TaskType<ReservedInput>,
  { taskId: id, data, input, wants }: Begun,
): Promise<string> {
  const owner = quotaOwner(scope);
  return beginTask(on, tx, scope, { id, task, data, input: { ...input, ...owner }, wants });
}

interface Begun {
  taskId: string;
  data: object;
  input: Omit<ReservedInput, keyof QuotaOwner>;
  wants: Wanted[];
}

async function lockAlsoHeld(tx: Transaction, scope: Scope, id: string): Promise<store.PlainReserved> {
  const port = await foundById('Reserved fixed IP', id, () => store.lockReservedPort(tx, scope, id));
  tx.about({ type: 'port', ...port });
  return port;
}

/** Wants the port as it is, but for the reservation. */
async function notReserved(tx: Transaction, id: string): Promise<Wanted[]> {
  return [...(await portSpecs(tx, [id]))].map(([, { reserved: _, ...spec }]) => put('port', id, spec));
}

/** @throws ConflictError; a deletion may wait if the user of the port is being deleted */
async function refuseUsed(tx: Transaction, port: store.PlainReserved): Promise<void> {
  refuseHeld(`Reserved fixed IP ${port.id}`, port);
  if (port.load_balancer_id !== null) {
    throw await usedBy(
      tx,
      `Reserved fixed IP ${port.id} is the virtual address of load balancer ${port.load_balancer_id}; delete that one first`,
      [[{ kind: 'load_balancer', id: port.load_balancer_id }]],
    );
  }
  if (port.instance_id === null) return;
  throw await usedBy(
    tx,
    `Reserved fixed IP ${port.id} is attached to instance ${port.instance_id}; detach it there first`,
    [[{ kind: 'machine', id: port.instance_id }]],
  );
}

/** @throws ConflictError for a port whose address no floating IP could have */
async function onlyAddress(tx: Transaction, port: store.PlainReserved): Promise<string> {
  const what = `Reserved fixed IP ${port.id}`;
  if (port.is_vip) throw new ConflictError(`${what} is a VIP; set its is_vip to false first`);
  if (!(await addresses.isOutside(tx, port.network_id))) {
    throw new ConflictError(`${what} is not in the external network, so it can't become a floating IP`);
  }
  const owned = await addressesOf(tx.sql, port.id);
  const [address, ...more] = owned;
  if (address === undefined || more.length > 0 || address.includes(':')) {
    throw new ConflictError(`${what} has ${owned.join(' and ')}, but a floating IP has a single IPv4 address`);
  }
  return address;
}

function sourcesOf(request: OfAddress): addresses.AddressSource[] {
  switch (request.type) {
    case 'external':
      return familiesOf(request.ip_family).map((family) => ({ kind: 'external', family }));
    case 'subnet': {
      const families = (request.ip_family ?? null) === null ? [undefined] : familiesOf(request.ip_family);
      return families.map((family) => ({ kind: 'subnet', subnetId: request.subnet_id, family }));
    }
    case 'any_subnet':
    case 'ip_address': {
      const named = request.type === 'ip_address' ? request.ip_address : undefined;
      return wishedAddresses(request.ip_family, named).map((wish) => ({
        kind: 'any-subnet',
        networkId: request.network_id,
        ...wish,
      }));
    }
  }
}

export const reservedFixedIpDeletion = waitingDeletion('delete_reserved_fixed_ip', deleteReservedFixedIp, ['port_id']);
