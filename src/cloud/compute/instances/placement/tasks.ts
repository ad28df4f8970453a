import { type TaskEnd, taskType } from '../../../../convergence/task-kind.ts';
import type { Transaction } from '../../../../db/database.ts';
import type { Clock } from '../../../../lib/clock.ts';
import * as placementGroups from '../../placement-groups/service.ts';
import { changeInstance } from '../store.ts';

interface Input {
  instanceId: string;
}

export const PUT_INTO_GROUP = taskType<Input>('put_into_server_group');
export const REMOVE_FROM_GROUP = taskType<Input>('remove_from_server_group');

/** How instances get into placement groups and out of them. In between, they are in the group. */
export function placementTasks({ clock }: { clock: Clock }): TaskEnd[] {
  const free = (tx: Transaction, { instanceId }: Input) =>
    changeInstance(tx, instanceId, { task_state: null, task_id: null }, clock.now());

  const put: TaskEnd<Input> = {
    ...PUT_INTO_GROUP,
    async complete(tx, _task, input) {
      await free(tx, input);
      return null;
    },
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
      return null;
    },
    abandon: (tx, _task, input) => free(tx, input),
  };
  return [put, remove];
}
