import { type TaskEnd, taskType } from '../../../../convergence/task-kind.ts';
import type { Transaction } from '../../../../db/database.ts';
import type { Clock } from '../../../../lib/time.ts';
import { type QuotaOwner, releaseQuotas } from '../../../ground/quotas/service.ts';
import * as addresses from '../../../network/addresses/in-transaction.ts';
import * as floatingIps from '../../../network/floating-ips/service.ts';
import * as interfaces from '../../../network/ports/interfaces/in-transaction.ts';
import { changeInstance, lockForRemoval } from '../store.ts';

export interface InterfaceInput extends QuotaOwner {
  instanceId: string;
  portId: string;
  /** What was created for it. A reserved port and an existing floating IP don't count. */
  made: { portIds: string[]; floatingIpIds: string[] };
}

export const ATTACH_INTERFACE = taskType<InterfaceInput>('attach_vm_interface');
export const DETACH_INTERFACE = taskType<InterfaceInput>('detach_vm_interface');

interface Deps {
  clock: Clock;
}

/** How the attaching and the detaching of a port end. After a failure, everything is as before. */
export function interfaceTasks(deps: Deps): TaskEnd[] {
  const attach: TaskEnd<InterfaceInput> = {
    ...ATTACH_INTERFACE,
    async complete(tx, task, input) {
      await keep(tx, task.id, input, deps);
      return { ports: input.made.portIds, floatingips: input.made.floatingIpIds };
    },
    // A floating IP that led to a reserved port before leads there afterwards.
    abandon: (tx, task, input) => remove(tx, task.id, input, { ...deps, gonePortIds: input.made.portIds }),
  };

  const detach: TaskEnd<InterfaceInput> = {
    ...DETACH_INTERFACE,
    async complete(tx, task, input) {
      await remove(tx, task.id, input, { ...deps, gonePortIds: [input.portId] });
      return null;
    },
    abandon: (tx, task, input) => keep(tx, task.id, input, deps),
  };
  return [attach, detach];
}

async function keep(
  tx: Transaction,
  taskId: string,
  { instanceId, portId }: InterfaceInput,
  { clock }: Deps,
): Promise<void> {
  await changeInstance(tx, instanceId, { task_id: null }, clock.now());
  await interfaces.free(tx, portId);
  await floatingIps.settle(tx, taskId, clock.now());
}

/** Locks rows in the same order as the removal of an instance. */
async function remove(
  tx: Transaction,
  taskId: string,
  { instanceId, portId, made, ...owner }: InterfaceInput,
  { clock, gonePortIds }: Deps & { gonePortIds: string[] },
): Promise<void> {
  const now = clock.now();
  await lockForRemoval(tx, instanceId);
  const gone = await interfaces.remove(tx, taskId, portId, now);
  const doomed = made.floatingIpIds;
  const gonePublic = await floatingIps.letGo(tx, taskId, { portIds: gonePortIds, doomed }, now);
  await addresses.release(tx, gone ? [portId] : [], gonePublic);
  await changeInstance(tx, instanceId, { task_id: null }, now);
  await releaseQuotas(tx, owner, { floating_count: gonePublic.length });
}
