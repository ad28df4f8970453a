import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { InvalidError } from '../../lib/errors.ts';
import type { Addresses } from '../networks/addresses.ts';
import type { InterfaceRow } from '../ports/interface-rows.ts';
import type { PortInterfaces } from '../ports/interfaces.ts';
import type { Scope } from '../projects/service.ts';
import type { PortGroups } from '../security-groups/port-groups.ts';
import type { Tasks } from '../tasks/service.ts';
import { addressWish } from './address-wishes.ts';
import { lockFreeInstance } from './free-instance.ts';
import { interfaceGroups } from './interface-groups.ts';
import {
  ATTACH_INTERFACE,
  DETACH_INTERFACE,
  INTERFACE_DEADLINE_MS,
  type InterfaceInput,
} from './interface-workflow.ts';
import { interfaceProblems } from './request-problems.ts';
import { MAX_INTERFACES, type NewInterface } from './schema.ts';
import { changeInstance, type PlainInstance } from './store.ts';

export interface InstanceInterfaces {
  /** In the order in which the instance has them. @throws NotFoundError */
  list(
    scope: Scope,
    id: string,
    page: { limit: number; offset: number },
  ): Promise<{ count: number; rows: InterfaceRow[] }>;
  /** Answers the task's id. @throws NotFoundError, InvalidError, ConflictError */
  attach(scope: Scope, id: string, request: NewInterface): Promise<string>;
  /** Answers the task's id. @throws NotFoundError, InvalidError, ConflictError */
  detach(scope: Scope, id: string, port: { port_id: string; ip_address: string }): Promise<string>;
}

export function createInstanceInterfaces(deps: {
  database: Database;
  clock: Clock;
  tasks: Tasks;
  addresses: Addresses;
  interfaces: PortInterfaces;
  portGroups: PortGroups;
  find(scope: Scope, id: string): Promise<PlainInstance>;
}): InstanceInterfaces {
  const { database, clock, tasks, addresses, interfaces, portGroups, find } = deps;

  return {
    async list(scope, id, page) {
      const instance = await find(scope, id);
      return interfaces.list(instance.id, page);
    },

    async attach(scope, id, request) {
      const transaction = database.accept(scope.principal, async (tx) => {
        const instance = await lockFreeInstance(tx, scope, id);
        const problems = interfaceProblems(request, 'interfaces.0');
        if (problems.length > 0) throw new InvalidError(problems);
        const [portId, taskId] = [randomUUID(), randomUUID()];
        const now = clock.now();
        const [groups = []] = await interfaceGroups(tx, scope, { interfaces: [request] }, portGroups);
        const [taken] = await addresses.take(tx, scope, addressWish(request, 'interfaces.0', portId));
        if (!taken) throw new InvalidError({ type: ['Names nothing that an address can come from.'] });
        const port = {
          id: portId,
          instanceId: instance.id,
          networkId: taken.networkId,
          interfaceName: request.interface_name ?? null,
          taskId,
        };
        await interfaces.add(tx, scope, port, MAX_INTERFACES, now);
        await portGroups.put(
          tx,
          groups.map((groupId) => ({ portId, groupId })),
        );
        return start(tx, scope, ATTACH_INTERFACE, taskId, { instanceId: instance.id, portId });
      });
      return transaction.catch(inFieldsOfOne);
    },

    detach: (scope, id, request) =>
      database.accept(scope.principal, async (tx) => {
        const instance = await lockFreeInstance(tx, scope, id);
        const taskId = randomUUID();
        const portId = await interfaces.hold(tx, instance.id, request, taskId);
        return start(tx, scope, DETACH_INTERFACE, taskId, { instanceId: instance.id, portId });
      }),
  };

  async function start(tx: Transaction, scope: Scope, type: string, taskId: string, input: InterfaceInput) {
    await changeInstance(tx, input.instanceId, { task_id: taskId }, clock.now());
    return tasks.start(tx, scope, {
      id: taskId,
      type,
      data: { instance_id: input.instanceId, port_id: input.portId },
      input,
      deadlineMs: INTERFACE_DEADLINE_MS,
    });
  }
}

/** What a list of interfaces is refused for, for a request that is one interface itself. */
function inFieldsOfOne(error: unknown): never {
  if (!(error instanceof InvalidError)) throw error;
  const fields = Object.entries(error.fields).map(([field, texts]) => [
    field.replace(/^interfaces\.0\./, ''),
    texts,
  ]);
  throw new InvalidError(Object.fromEntries(fields));
}
