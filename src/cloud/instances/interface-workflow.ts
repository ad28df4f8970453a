import type { Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import type { Addresses } from '../networks/addresses.ts';
import type { PortInterfaces } from '../ports/interfaces.ts';
import type { MachineChanges } from './backend.ts';
import { changeInstance, lockForRemoval } from './store.ts';

export const ATTACH_INTERFACE = 'attach_vm_interface';
export const DETACH_INTERFACE = 'detach_vm_interface';
export const INTERFACE_DEADLINE_MS = 10 * 60_000;

export interface InterfaceInput {
  instanceId: string;
  portId: string;
}

interface Deps {
  clock: Clock;
  changes: MachineChanges;
  addresses: Addresses;
  interfaces: PortInterfaces;
}

/** A port comes to an instance or leaves it. A failure leaves things as they were. */
export function interfaceHandlers(deps: Deps): TaskHandler[] {
  const attach: TaskHandler<InterfaceInput, null> = {
    type: ATTACH_INTERFACE,
    deadlineMs: INTERFACE_DEADLINE_MS,
    async run(run, { instanceId }) {
      const { settlesInMs } = await run.step('attach', () =>
        deps.changes.apply({ instanceId, kind: 'attach-interface' }),
      );
      await run.sleep(settlesInMs);
      return null;
    },
    async complete(tx, _task, input) {
      await keep(tx, input, deps);
      return { ports: [input.portId] };
    },
    abandon: (tx, _task, input) => remove(tx, input, deps),
  };

  const detach: TaskHandler<InterfaceInput, null> = {
    type: DETACH_INTERFACE,
    deadlineMs: INTERFACE_DEADLINE_MS,
    async run(run, { instanceId }) {
      const { settlesInMs } = await run.step('detach', () =>
        deps.changes.apply({ instanceId, kind: 'detach-interface' }),
      );
      await run.sleep(settlesInMs);
      return null;
    },
    async complete(tx, _task, input) {
      await remove(tx, input, deps);
      return null;
    },
    abandon: (tx, _task, input) => keep(tx, input, deps),
  };
  return [attach, detach];
}

async function keep(tx: Transaction, { instanceId, portId }: InterfaceInput, deps: Deps): Promise<void> {
  await changeInstance(tx, instanceId, { task_id: null }, deps.clock.now());
  await deps.interfaces.free(tx, portId);
}

/** In the order in which an instance's removal locks the same rows. */
async function remove(tx: Transaction, { instanceId, portId }: InterfaceInput, deps: Deps): Promise<void> {
  await lockForRemoval(tx, instanceId);
  await deps.interfaces.remove(tx, portId);
  await deps.addresses.release(tx, [portId]);
  await changeInstance(tx, instanceId, { task_id: null }, deps.clock.now());
}
