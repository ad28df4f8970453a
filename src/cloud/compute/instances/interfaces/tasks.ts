import { type TaskEnd, taskType } from '../../../../convergence/task-kind.ts';
import type { Transaction } from '../../../../db/database.ts';
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

/** How the attaching and the detaching of a port end. After a failure, everything is as before. */
export function interfaceTasks(): TaskEnd[] {
  const attach: TaskEnd<InterfaceInput> = {
    ...ATTACH_INTERFACE,
    async complete(tx, task, input) {
      await keep(tx, task.id, input);
      return { ports: input.made.portIds, floatingips: input.made.floatingIpIds };
    },
    // A floating IP that led to a reserved port before leads there afterwards.
    abandon: (tx, task, input) => remove(tx, task.id, input, input.made.portIds),
  };

  const detach: TaskEnd<InterfaceInput> = {
    ...DETACH_INTERFACE,
    complete: (tx, task, input) => remove(tx, task.id, input, [input.portId]),
    abandon: (tx, task, input) => keep(tx, task.id, input),
  };
  return [attach, detach];
}

async function keep(tx: Transaction, taskId: string, { instanceId, portId }: InterfaceInput): Promise<void> {
  await changeInstance(tx, instanceId, { task_id: null });
  await interfaces.free(tx, portId);
  await floatingIps.settle(tx, taskId);
}

/** Locks rows in the same order as the removal of an instance. */
async function remove(
  tx: Transaction,
  taskId: string,
  { instanceId, portId, made, ...owner }: InterfaceInput,
  gonePortIds: string[],
): Promise<void> {
  await lockForRemoval(tx, instanceId);
  const gone = await interfaces.remove(tx, taskId, portId);
  const doomed = made.floatingIpIds;
  const gonePublic = await floatingIps.letGo(tx, taskId, { portIds: gonePortIds, doomed });
  await addresses.release(tx, gone ? [portId] : [], gonePublic);
  await changeInstance(tx, instanceId, { task_id: null });
  releaseQuotas(tx, owner, { floating_count: gonePublic.length });
}
