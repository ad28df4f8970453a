import type { Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import type { InterfaceFloatingIps } from '../floating-ips/on-interfaces.ts';
import type { Addresses } from '../networks/addresses.ts';
import type { PortInterfaces } from '../ports/interfaces.ts';
import { settled } from '../provisioning/settled.ts';
import { releaseQuotas } from '../quotas/quotas.ts';
import type { MachineChanges } from './backend.ts';
import { changeInstance, lockForRemoval } from './store.ts';

export const ATTACH_INTERFACE = 'attach_vm_interface';
export const DETACH_INTERFACE = 'detach_vm_interface';
export const INTERFACE_DEADLINE_MS = 10 * 60_000;

export interface InterfaceInput {
  instanceId: string;
  portId: string;
  /** What is made for it; a reserved port and a floating IP that existed before are not. */
  made: { portIds: string[]; floatingIpIds: string[] };
  /** Whose quota it counts against. */
  clientId: number;
  regionId: number;
}

interface Deps {
  clock: Clock;
  changes: MachineChanges;
  addresses: Pick<Addresses, 'release'>;
  interfaces: PortInterfaces;
  floatingIps: InterfaceFloatingIps;
}

/** A port comes to an instance or leaves it. A failure leaves things as they were. */
export function interfaceHandlers(deps: Deps): TaskHandler[] {
  const attach: TaskHandler<InterfaceInput, null> = {
    type: ATTACH_INTERFACE,
    deadlineMs: INTERFACE_DEADLINE_MS,
    async run(run, { instanceId }) {
      return settled(run, 'attach', () => deps.changes.apply({ instanceId, kind: 'attach-interface' }));
    },
    async complete(tx, task, input) {
      await keep(tx, input, deps);
      await deps.floatingIps.settle(tx, task.id, deps.clock.now());
      return { ports: input.made.portIds, floatingips: input.made.floatingIpIds };
    },
    abandon: (tx, task, input) => remove(tx, task.id, input, deps),
  };

  const detach: TaskHandler<InterfaceInput, null> = {
    type: DETACH_INTERFACE,
    deadlineMs: INTERFACE_DEADLINE_MS,
    async run(run, { instanceId }) {
      return settled(run, 'detach', () => deps.changes.apply({ instanceId, kind: 'detach-interface' }));
    },
    async complete(tx, task, input) {
      await remove(tx, task.id, input, deps);
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
async function remove(
  tx: Transaction,
  taskId: string,
  { instanceId, portId, made, ...owner }: InterfaceInput,
  deps: Deps,
): Promise<void> {
  const now = deps.clock.now();
  await lockForRemoval(tx, instanceId);
  const gone = await deps.interfaces.remove(tx, taskId, portId, now);
  const doomed = made.floatingIpIds;
  const floatingIps = await deps.floatingIps.letGo(tx, taskId, { portIds: [portId], doomed }, now);
  await deps.addresses.release(tx, gone ? [portId] : [], floatingIps);
  await changeInstance(tx, instanceId, { task_id: null }, now);
  await releaseQuotas(tx, owner, { floating_count: floatingIps.length });
}
