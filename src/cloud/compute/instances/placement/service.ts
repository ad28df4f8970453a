import { change } from '../../../../convergence/wants.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import { newTaskId } from '../../../../lib/ids.ts';
import type { Platform } from '../../../../platform.ts';
import { isBareMetal } from '../../../ground/catalog/flavor-schema.ts';
import type { PlainInstance } from '../../../ground/hosts/in-transaction.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { beginTask } from '../../../ground/tasks/service.ts';
import * as placementGroups from '../../placement-groups/service.ts';
import { lockFreeInstance } from '../free-instance.ts';
import { changeInstance } from '../store.ts';
import { ofMachine } from '../tasks.ts';
import { PUT_INTO_GROUP, REMOVE_FROM_GROUP } from './tasks.ts';

/** Returns the task. @throws NotFoundError, InvalidError for an unknown group, ConflictError if it is in one */
export const putIntoPlacementGroup = (
  on: Platform,
  scope: Scope,
  id: string,
  groupId: string,
): Promise<string> =>
  on.database.accept(async (tx) => {
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
    await changeInstance(tx, instance.id, { task_state: 'migrating', task_id: taskId }, tx.now);
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
    await changeInstance(tx, instance.id, { task_state: 'migrating', task_id: taskId }, tx.now);
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
