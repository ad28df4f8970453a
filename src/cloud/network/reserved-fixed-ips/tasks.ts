import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import { remove as removeWant } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/service.ts';
import * as addresses from '../addresses/in-transaction.ts';
import * as floatingIps from '../floating-ips/service.ts';
import { floatingIpOfPort } from '../floating-ips/service.ts';
import { changeReserved, deleteReserved } from '../ports/reserved/in-transaction.ts';
import { asInRows } from '../ports/tasks.ts';
import { lockAny } from './store.ts';
import { disconnectAll } from './vips.ts';

export interface ReservedInput extends QuotaOwner {
  portId: string;
  /** Whether an instance or a load balancer had the port before. */
  existed?: boolean;
  /** Whether its load balancer keeps the port. */
  stays?: boolean;
  floatingIpId?: string;
}

export const RESERVE_ADDRESS = taskType<ReservedInput>('create_reserved_fixed_ip');
export const FREE_ADDRESS = taskType<ReservedInput>('delete_reserved_fixed_ip');
export const CONVERT_ADDRESS = taskType<ReservedInput>('convert_reserved_fixed_ip_to_fip');

export function reservedFixedIpTasks(): TaskEnd[] {
  const free = (tx: Transaction, id: string) => changeReserved(tx, id, { task_id: null });

  async function remove(tx: Transaction, taskId: string, input: ReservedInput): Promise<void> {
    const { portId } = input;
    const port = await lockAny(tx, portId);
    if (!port) return;
    if (port.is_vip) await disconnectAll(tx, port);
    await deleteReserved(tx, portId);
    await floatingIps.letGo(tx, taskId, { portIds: [portId], doomed: [] });
    await addresses.release(tx, [portId]);
    releaseQuota(tx, input, 'reserved_fixed_ip_count');
  }

  async function unreserve(tx: Transaction, input: ReservedInput): Promise<void> {
    await changeReserved(tx, input.portId, { reserved: false, creator_task_id: null, task_id: null });
    releaseQuota(tx, input, 'reserved_fixed_ip_count');
  }

  const reserve: TaskEnd<ReservedInput> = {
    ...RESERVE_ADDRESS,
    async complete(tx, _task, { portId }) {
      await free(tx, portId);
      return { ports: [portId] };
    },
    async abandon(tx, task, input) {
      const { portId } = input;
      const port = await lockAny(tx, portId);
      // What had the port may be gone by now.
      const isUsed = port && (port.instance_id !== null || port.load_balancer_id !== null);
      if (!input.existed || !isUsed) {
        await remove(tx, task.id, input);
        return [removeWant('port', portId)];
      }
      await unreserve(tx, input);
      return asInRows(tx, [portId]);
    },
  };

  const giveBack: TaskEnd<ReservedInput> = {
    ...FREE_ADDRESS,
    removes: true,
    async complete(tx, task, input) {
      if (input.stays) await unreserve(tx, input);
      else await remove(tx, task.id, input);
    },
  };

  const convert: TaskEnd<ReservedInput> = {
    ...CONVERT_ADDRESS,
    async complete(tx, task, input) {
      const { portId, floatingIpId: id = '' } = input;
      await floatingIpOfPort(tx, { id, portId, taskId: task.id });
      await deleteReserved(tx, portId);
      releaseQuota(tx, input, 'reserved_fixed_ip_count');
      return { floatingips: [id] };
    },
    async abandon(tx, _task, input) {
      await free(tx, input.portId);
      releaseQuota(tx, input, 'floating_count');
      // The backend may have removed the port already, to make room for the floating IP.
      return asInRows(tx, [input.portId]);
    },
  };

  return [reserve, giveBack, convert];
}
