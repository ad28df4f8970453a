import { change } from '../../../../convergence/wants.ts';
import type { Database } from '../../../../db/database.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import { newTaskId } from '../../../../lib/ids.ts';
import { isBareMetal } from '../../../ground/catalog/flavor-schema.ts';
import type { PlainInstance } from '../../../ground/hosts/in-transaction.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import type { Tasks } from '../../../ground/tasks/service.ts';
import * as placementGroups from '../../placement-groups/in-transaction.ts';
import { lockFreeInstance } from '../free-instance.ts';
import { changeInstance } from '../store.ts';
import { ofMachine } from '../wanted.ts';
import { PUT_INTO_GROUP, REMOVE_FROM_GROUP } from './tasks.ts';

/** Instances in placement groups. */
export interface InstancePlacement {
  /** Returns the task. @throws NotFoundError, InvalidError for an unknown group, ConflictError if it is in one */
  putInto(scope: Scope, id: string, groupId: string): Promise<string>;
  /** Returns the task. @throws NotFoundError, ConflictError if it is in none */
  removeFrom(scope: Scope, id: string): Promise<string>;
}

export function createInstancePlacement(deps: {
  database: Database;
  clock: Clock;
  tasks: Tasks;
}): InstancePlacement {
  const { database, clock, tasks } = deps;

  return {
    putInto: (scope, id, groupId) =>
      database.accept(scope.principal, async (tx) => {
        const instance = await lockFreeInstance(tx, scope, id);
        refuseBareMetal(instance);
        const former = await placementGroups.groupOf(tx, instance.id);
        if (former !== undefined) {
          throw new ConflictError(
            `Instance ${instance.id} is in placement group ${former}; remove it from there first`,
          );
        }
        await placementGroups.join(tx, scope, groupId, instance.id);
        const serverGroupId = groupId.toLowerCase();
        const taskId = newTaskId();
        await changeInstance(tx, instance.id, { task_state: 'migrating', task_id: taskId }, clock.now());
        return tasks.begin(tx, scope, {
          id: taskId,
          task: PUT_INTO_GROUP,
          data: { instance_id: instance.id, servergroup_id: serverGroupId },
          input: { instanceId: instance.id },
          wants: [ofMachine(instance.id, () => ({ serverGroupId }))],
        });
      }),

    removeFrom: (scope, id) =>
      database.accept(scope.principal, async (tx) => {
        const instance = await lockFreeInstance(tx, scope, id);
        refuseBareMetal(instance);
        const group = await placementGroups.groupOf(tx, instance.id);
        if (group === undefined) {
          throw new ConflictError(`Instance ${instance.id} is in no placement group`);
        }
        const taskId = newTaskId();
        await changeInstance(tx, instance.id, { task_state: 'migrating', task_id: taskId }, clock.now());
        return tasks.begin(tx, scope, {
          id: taskId,
          task: REMOVE_FROM_GROUP,
          data: { instance_id: instance.id, servergroup_id: group },
          input: { instanceId: instance.id },
          wants: [change('machine', instance.id, placementGroups.withoutGroup)],
        });
      }),
  };
}

function refuseBareMetal({ id, flavor_id }: PlainInstance): void {
  if (!isBareMetal(flavor_id)) return;
  throw new ConflictError(`Instance ${id} is a bare metal machine, which can't be in a placement group`);
}
