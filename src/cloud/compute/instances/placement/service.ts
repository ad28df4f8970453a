import { type TaskEnd, taskType } from '../../../../convergence/task-kind.ts';
import { change } from '../../../../convergence/wants.ts';
import type { Transaction } from '../../../../db/database.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import { newTaskId } from '../../../../lib/ids.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { isBareMetal } from '../../../ground/catalog/flavor-schema.ts';
import type { PlainInstance } from '../../../ground/hosts/in-transaction.ts';
import { beginTask } from '../../../ground/tasks/service.ts';
import * as placementGroups from '../../placement-groups/service.ts';
import { lockFreeInstance } from '../service.ts';
import { changeInstance } from '../store.ts';
import { ofMachine } from '../tasks.ts';

interface Input {
  instanceId: string;
}

export const PUT_INTO_GROUP = taskType<Input>('put_into_server_group');
export const REMOVE_FROM_GROUP = taskType<Input>('remove_from_server_group');

/** How instances get into placement groups and out of them. In between, they are in the group. */
export function placementTasks(): TaskEnd[] {
  const free = (tx: Transaction, { instanceId }: Input) =>
    changeInstance(tx, instanceId, { task_state: null, task_id: null });

  const put: TaskEnd<Input> = {
    ...PUT_INTO_GROUP,
    complete: (tx, _task, input) => free(tx, input),
    async abandon(tx, _task, input) {
      await free(tx, input);
      await placementGroups.leave(tx, input.instanceId);
    },
  };
  const remove: TaskEnd<Input> = {
    ...REMOVE_FROM_GROUP,
    async complete(tx, _task, input) {
      await free(tx, input);
      await placementGroups.leave(tx, input.instanceId);
    },
    abandon: (tx, _task, input) => free(tx, input),
  };
  return [put, remove];
}

/** Returns the task. @throws NotFoundError, InvalidError for an unknown group, ConflictError if it is in one */
export const putIntoPlacementGroup = (on: Platform, scope: Scope, id: string, groupId: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const instance = await lockFreeInstance(tx, scope, id);
    refuseBareMetal(instance);
    const former = await placementGroups.groupOf(tx, instance.id);
    if (former !== undefined) {
      throw new ConflictError(`Instance ${instance.id} is in placement group ${former}; remove it from there first`);
    }
    await placementGroups.join(tx, scope, groupId, instance.id);
    const serverGroupId = groupId.toLowerCase();
    const taskId = newTaskId();
    await changeInstance(tx, instance.id, { task_state: 'migrating', task_id: taskId });
    return beginTask(on, tx, scope, {
      id: taskId,
      task: PUT_INTO_GROUP,
      data: { instance_id: instance.id, servergroup_id: serverGroupId },
      input: { instanceId: instance.id },
      wants: [ofMachine(instance.id, () => ({ serverGroupId }))],
    });
  });

/** Returns the task. @throws NotFoundError, ConflictError if it is in none */
export const removeFromPlacementGroup = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const instance = await lockFreeInstance(tx, scope, id);
    refuseBareMetal(instance);
    const group = await placementGroups.groupOf(tx, instance.id);
    if (group === undefined) {
      throw new ConflictError(`Instance ${instance.id} is in no placement group`);
    }
    const taskId = newTaskId();
    await changeInstance(tx, instance.id, { task_state: 'migrating', task_id: taskId });
    return beginTask(on, tx, scope, {
      id: taskId,
      task: REMOVE_FROM_GROUP,
      data: { instance_id: instance.id, servergroup_id: group },
      input: { instanceId: instance.id },
      wants: [change('machine', instance.id, placementGroups.withoutGroup)],
    });
  });

function refuseBareMetal({ id, flavor_id }: PlainInstance): void {
  if (!isBareMetal(flavor_id)) return;
  throw new ConflictError(`Instance ${id} is a bare metal machine, which can't be in a placement group`);
}
