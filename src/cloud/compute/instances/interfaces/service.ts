import type { TaskType } from '../../../../convergence/task-kind.ts';
import { remove, type Wanted } from '../../../../convergence/wants.ts';
import type { Database, Transaction } from '../../../../db/database.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { InvalidError } from '../../../../lib/errors.ts';
import { newTaskId } from '../../../../lib/ids.ts';
import type { Page, PageQuery } from '../../../../lib/page.ts';
import type { Catalog } from '../../../ground/catalog/service.ts';
import type { PlainInstance } from '../../../ground/hosts/in-transaction.ts';
import { ATTACHABLE } from '../../../ground/hosts/states.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { quotaOwner, takeQuotas } from '../../../ground/quotas/in-transaction.ts';
import { refuseDoomed } from '../../../ground/tasks/in-transaction.ts';
import type { Tasks } from '../../../ground/tasks/service.ts';
import * as floatingIps from '../../../network/floating-ips/in-transaction.ts';
import * as interfaces from '../../../network/ports/interfaces/in-transaction.ts';
import { attachProblems } from '../creation/request-problems.ts';
import { lockFreeInstance, requireState } from '../free-instance.ts';
import { MAX_INTERFACES } from '../schema.ts';
import { changeInstance } from '../store.ts';
import { asRows, ofMachine, withoutTarget } from '../wanted.ts';
import { ofItsKind } from './any-interface.ts';
import * as newInterfaces from './new-interfaces.ts';
import type { AttachInterface } from './schema.ts';
import { ATTACH_INTERFACE, DETACH_INTERFACE, type InterfaceInput } from './tasks.ts';

export interface InstanceInterfaces {
  /** Lists the interfaces in the instance's order. @throws NotFoundError */
  list(scope: Scope, id: string, page: PageQuery): Promise<Page<interfaces.InterfaceRow>>;
  /** Returns the task's ID. @throws NotFoundError, InvalidError, ConflictError */
  attach(scope: Scope, id: string, request: AttachInterface): Promise<string>;
  /** Returns the task's ID. @throws NotFoundError, InvalidError, ConflictError */
  detach(scope: Scope, id: string, port: { port_id: string; ip_address: string }): Promise<string>;
}

export function createInstanceInterfaces(deps: {
  database: Database;
  clock: Clock;
  catalog: Pick<Catalog, 'ddosTemplates'>;
  tasks: Tasks;
  find(scope: Scope, id: string): Promise<PlainInstance>;
}): InstanceInterfaces {
  const { database, clock, catalog, tasks, find } = deps;

  return {
    async list(scope, id, page) {
      const instance = await find(scope, id);
      return interfaces.list(database.sql, instance.id, page);
    },

    async attach(scope, id, request) {
      const transaction = database.accept(scope.principal, async (tx) => {
        const instance = await lockFreeInstance(tx, scope, id);
        const problems = attachProblems(request, instance.flavor_id, catalog.ddosTemplates(scope.regionId));
        if (problems.length > 0) throw new InvalidError(problems);
        requireState(instance, 'attach an interface', ATTACHABLE);
        await refuseDoomed(tx, scope, `Instance ${instance.id}`, { type: 'delete_vm', id: instance.id });
        const taskId = newTaskId();
        const now = clock.now();
        const from = await interfaces.nextPlace(tx, instance.id, MAX_INTERFACES);
        const wanted = await newInterfaces.want(tx, scope, { interfaces: [ofItsKind(request)] });
        const [made, ...none] = await newInterfaces.address(tx, scope, wanted);
        if (!made || none.length > 0) throw new TypeError('one interface was asked for');
        const to = { instanceId: instance.id, from, taskId, holdPorts: true, now };
        await newInterfaces.write(tx, scope, [made], to);
        const input = { ...inputOf(scope, instance.id, made.portId), made: newInterfaces.madeOf([made]) };
        await start(tx, scope, ATTACH_INTERFACE, taskId, input, [
          ...(await asRows(tx, newInterfaces.namedBy([made]))),
          ofMachine(instance.id, ({ ports }) => ({ ports: { ...ports, [made.portId]: { position: from } } })),
        ]);
        await takeQuotas(tx, scope, { floating_count: input.made.floatingIpIds.length });
        return taskId;
      });
      return transaction.catch(inFieldsOfOne);
    },

    detach: (scope, id, request) =>
      database.accept(scope.principal, async (tx) => {
        const instance = await lockFreeInstance(tx, scope, id);
        requireState(instance, 'detach an interface', ATTACHABLE);
        const taskId = newTaskId();
        const port = await interfaces.hold(tx, instance.id, request, taskId);
        const staying = { floatings: [], deleteFloatings: false };
        const { held } = await floatingIps.hold(tx, [port.id], staying, taskId);
        return start(tx, scope, DETACH_INTERFACE, taskId, inputOf(scope, instance.id, port.id), [
          ofMachine(instance.id, ({ ports: { [port.id]: _, ...ports } }) => ({ ports })),
          ...withoutTarget(held, []),
          ...(port.reserved ? [] : [remove('port', port.id)]),
        ]);
      }),
  };

  async function start(
    tx: Transaction,
    scope: Scope,
    task: TaskType<InterfaceInput>,
    id: string,
    input: InterfaceInput,
    wants: Wanted[],
  ) {
    await changeInstance(tx, input.instanceId, { task_id: id }, clock.now());
    const data = { instance_id: input.instanceId, port_id: input.portId };
    return tasks.begin(tx, scope, { id, task, data, input, wants });
  }
}

function inputOf(scope: Scope, instanceId: string, portId: string): InterfaceInput {
  const made = { portIds: [], floatingIpIds: [] };
  return { instanceId, portId, made, ...quotaOwner(scope) };
}

/** Turns the faults of a list of interfaces into those of a request that is a single interface. */
function inFieldsOfOne(error: unknown): never {
  if (!(error instanceof InvalidError)) throw error;
  const fields = Object.entries(error.fields).map(([field, texts]) => [
    field.replace(/^interfaces\.0\./, ''),
    texts,
  ]);
  throw new InvalidError(Object.fromEntries(fields));
}
