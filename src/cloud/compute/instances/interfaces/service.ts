import type { TaskType } from '../../../../convergence/task-kind.ts';
import { remove, type Wanted } from '../../../../convergence/wants.ts';
import type { Transaction } from '../../../../db/database.ts';
import { InvalidError } from '../../../../lib/errors.ts';
import { newTaskId } from '../../../../lib/ids.ts';
import type { PageQuery } from '../../../../lib/page.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { ATTACHABLE } from '../../../ground/hosts/states.ts';
import { quotaOwner, refuseSpent, takeQuotas } from '../../../ground/quotas/service.ts';
import { beginTask, refuseDoomed } from '../../../ground/tasks/service.ts';
import * as floatingIps from '../../../network/floating-ips/service.ts';
import * as interfaces from '../../../network/ports/interfaces/in-transaction.ts';
import { attachProblems } from '../creation/request-problems.ts';
import { MAX_INTERFACES } from '../schema.ts';
import { getInstance, lockFreeInstance, requireState } from '../service.ts';
import { changeInstance } from '../store.ts';
import { asRows, ofMachine, withoutTarget } from '../tasks.ts';
import * as newInterfaces from './new-interfaces.ts';
import { type AttachInterface, ofItsKind } from './schema.ts';
import { ATTACH_INTERFACE, DETACH_INTERFACE, type InterfaceInput } from './tasks.ts';

/** Lists the interfaces in the instance's order. @throws NotFoundError */
export async function listInterfaces(on: Platform, scope: Scope, id: string, page: PageQuery) {
  const instance = await getInstance(on, scope, id);
  return interfaces.listInterfaces(on.database.sql, instance.id, page);
}

/** Returns the task's ID. @throws NotFoundError, InvalidError, ConflictError */
export async function attachInterface(on: Platform, scope: Scope, id: string, request: AttachInterface) {
  const transaction = on.database.accept(async (tx) => {
    const instance = await lockFreeInstance(tx, scope, id);
    const problems = attachProblems(request, instance.flavor_id, on.catalog.ddosTemplates(scope.regionId));
    if (problems.length > 0) throw new InvalidError(problems);
    requireState(instance, 'attach an interface', ATTACHABLE);
    await refuseDoomed(tx, scope, `Instance ${instance.id}`, { type: 'delete_vm', id: instance.id });
    const taskId = newTaskId();
    const from = await interfaces.nextPlace(tx, instance.id, MAX_INTERFACES);
    const wanted = await newInterfaces.want(tx, scope, { interfaces: [ofItsKind(request)] });
    const [made, ...none] = await newInterfaces.address(tx, scope, wanted);
    if (!made || none.length > 0) throw new TypeError('one interface was asked for');
    const to = { instanceId: instance.id, from, taskId, holdPorts: true };
    await newInterfaces.write(tx, scope, [made], to);
    const input = { ...inputOf(scope, instance.id, made.portId), made: newInterfaces.madeOf([made]) };
    await start(on, tx, scope, ATTACH_INTERFACE, taskId, input, [
      ...(await asRows(tx, newInterfaces.namedBy([made]))),
      ofMachine(instance.id, ({ ports }) => ({ ports: { ...ports, [made.portId]: { position: from } } })),
    ]);
    // A public address of its own takes no quota.
    if (request.type === 'external') await refuseSpent(tx, scope);
    takeQuotas(tx, scope, { floating_count: input.made.floatingIpIds.length });
    return taskId;
  });
  return transaction.catch(inFieldsOfOne);
}

/** Returns the task's ID. @throws NotFoundError, InvalidError, ConflictError */
export const detachInterface = (
  on: Platform,
  scope: Scope,
  id: string,
  request: { port_id: string; ip_address: string },
): Promise<string> =>
  on.database.accept(async (tx) => {
    const instance = await lockFreeInstance(tx, scope, id);
    requireState(instance, 'detach an interface', ATTACHABLE);
    const taskId = newTaskId();
    const port = await interfaces.hold(tx, instance.id, request, taskId);
    const staying = { floatings: [], deleteFloatings: false };
    const { held } = await floatingIps.hold(tx, [port.id], staying, taskId);
    return start(on, tx, scope, DETACH_INTERFACE, taskId, inputOf(scope, instance.id, port.id), [
      ofMachine(instance.id, ({ ports: { [port.id]: _, ...ports } }) => ({ ports })),
      ...withoutTarget(held, []),
      ...(port.reserved ? [] : [remove('port', port.id)]),
    ]);
  });

async function start(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  task: TaskType<InterfaceInput>,
  id: string,
  input: InterfaceInput,
  wants: Wanted[],
) {
  await changeInstance(tx, input.instanceId, { task_id: id });
  const data = { instance_id: input.instanceId, port_id: input.portId };
  return beginTask(on, tx, scope, { id, task, data, input, wants });
}

function inputOf(scope: Scope, instanceId: string, portId: string): InterfaceInput {
  const made = { portIds: [], floatingIpIds: [] };
  return { instanceId, portId, made, ...quotaOwner(scope) };
}

/** Turns the faults of a list of interfaces into those of a request that is a single interface. */
function inFieldsOfOne(error: unknown): never {
  if (!(error instanceof InvalidError)) throw error;
  const fields = Object.entries(error.fields).map(([field, texts]) => [field.replace(/^interfaces\.0\./, ''), texts]);
  throw new InvalidError(Object.fromEntries(fields));
}
