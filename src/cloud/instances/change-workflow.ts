import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import { settled } from '../provisioning/settled.ts';
import { ACTIONS, type ActionName } from './actions.ts';
import type { MachineChange, MachineChanges } from './backend.ts';
import type { InstanceStatus, VmState } from './states.ts';
import { changeInstance } from './store.ts';
import type { KeptFlavor } from './tables.ts';

export const RESIZE_VM = 'resize_vm';

interface State {
  status: InstanceStatus;
  vm_state: VmState;
}

export interface ChangeInput {
  change: MachineChange;
  /** What it returns to when the change fails. */
  before: State;
  end: State;
  /** Of a change of the flavor. */
  flavor?: KeptFlavor;
}

/** Changes of an instance's state and flavor: the backend does it, then the row says so. */
export function instanceChangeHandlers(deps: { clock: Clock; changes: MachineChanges }): TaskHandler[] {
  const { clock, changes } = deps;
  const types = Object.keys(ACTIONS).map((name) => ACTIONS[name as ActionName].taskType);
  return [...types, RESIZE_VM].map((type): TaskHandler => {
    const handler: TaskHandler<ChangeInput, null> = {
      type,
      deadlineMs: CHANGE_DEADLINE_MS,
      async run(run, { change }) {
        return settled(run, 'change', () => changes.apply(change));
      },
      async complete(tx, _task, { change, end, flavor }) {
        const free = { ...end, task_state: null, task_id: null };
        const resized = flavor && { flavor_id: flavor.flavor_id, flavor: JSON.stringify(flavor) };
        await changeInstance(tx, change.instanceId, { ...free, ...resized }, clock.now());
        return null;
      },
      async abandon(tx, _task, { change, before }) {
        const free = { ...before, task_state: null, task_id: null };
        await changeInstance(tx, change.instanceId, free, clock.now());
      },
    };
    return handler;
  });
}

export const CHANGE_DEADLINE_MS = 10 * 60_000;
