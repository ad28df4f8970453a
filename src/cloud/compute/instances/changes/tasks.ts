import { type TaskEnd, type TaskType, taskType } from '../../../../convergence/task-kind.ts';
import type { KeptFlavor } from '../../../../db/json-columns.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { InstanceStatus, VmState } from '../../../ground/hosts/states.ts';
import { changeInstance } from '../store.ts';
import { ACTIONS, type ActionName } from './actions.ts';

interface State {
  status: InstanceStatus;
  vm_state: VmState;
}

interface ChangeInput {
  instanceId: string;
  /** The state to which the instance returns if the change fails. */
  before: State;
  end: State;
  /** Only for a change of the flavor. */
  flavor?: KeptFlavor;
}
export type InstanceChange = TaskType<ChangeInput>;

export const RESIZE_VM = taskType<ChangeInput>('resize_vm');
export const taskOf = (action: ActionName): InstanceChange => taskType(ACTIONS[action].taskType);

/** How changes of an instance's state and flavor end. */
export function instanceChangeTasks({ clock }: { clock: Clock }): TaskEnd[] {
  const actions = (Object.keys(ACTIONS) as ActionName[]).map(taskOf);
  return [...actions, RESIZE_VM].map(
    (task): TaskEnd<ChangeInput> => ({
      ...task,
      async complete(tx, _task, { instanceId, end, flavor }) {
        const free = { ...end, task_state: null, task_id: null };
        const resized = flavor && { flavor_id: flavor.flavor_id, flavor: JSON.stringify(flavor) };
        await changeInstance(tx, instanceId, { ...free, ...resized }, clock.now());
        return null;
      },
      async abandon(tx, _task, { instanceId, before }) {
        await changeInstance(tx, instanceId, { ...before, task_state: null, task_id: null }, clock.now());
      },
    }),
  );
}
