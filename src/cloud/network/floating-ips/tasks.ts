import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/in-transaction.ts';
import * as addresses from '../addresses/in-transaction.ts';
import { insertReservedFor } from '../ports/reserved/in-transaction.ts';
import { changeFloatingIp, deleteFloatingIp, isFree, letGo, settle } from './store.ts';
import { asInRows } from './wanted.ts';
import { noWayOut } from './way-out.ts';

interface FloatingIpInput extends QuotaOwner {
  floatingIpId: string;
}

/** A floating IP that becomes a reserved port. */
interface FloatingIpConversion extends FloatingIpInput {
  portId: string;
  macAddress: string;
}

/** The state before an update. The update itself is written when it is accepted. */
interface FloatingIpUpdate {
  floatingIpId: string;
  former: { port_id: string | null; fixed_address: string | null; tags: Record<string, string> };
}

export const CREATE_FIP = taskType<FloatingIpInput>('create_fip');
export const UPDATE_FIP = taskType<FloatingIpUpdate>('update_floating_ip');
export const CONVERT_FIP = taskType<FloatingIpConversion>('convert_fip_to_reserved_fixed_ip');
export const DELETE_FIP = taskType<FloatingIpInput>('delete_fip');

interface Deps {
  clock: Clock;
}

/** How tasks on floating IPs end. */
export function floatingIpTasks({ clock }: Deps): TaskEnd[] {
  async function removeRow(tx: Transaction, taskId: string, { floatingIpId, ...owner }: FloatingIpInput) {
    const removed = await letGo(tx, taskId, { portIds: [], doomed: [floatingIpId] }, clock.now());
    if (removed.length === 0) return;
    await addresses.release(tx, [], removed);
    await releaseQuota(tx, owner, 'floating_count', removed.length);
  }

  const create: TaskEnd<FloatingIpInput> = {
    ...CREATE_FIP,
    async complete(tx, task, { floatingIpId }) {
      await settle(tx, task.id, clock.now());
      return { floatingips: [floatingIpId] };
    },
    abandon: (tx, task, input) => removeRow(tx, task.id, input),
  };

  const update: TaskEnd<FloatingIpUpdate> = {
    ...UPDATE_FIP,
    async complete(tx, task) {
      await settle(tx, task.id, clock.now());
      return null;
    },
    async abandon(tx, _task, { floatingIpId, former: { tags, ...former } }) {
      const { port_id, fixed_address } = former;
      const back = port_id !== null && fixed_address !== null;
      const free =
        back &&
        (await isFree(tx, floatingIpId, { port_id, fixed_address })) &&
        (await noWayOut(tx, port_id, fixed_address)) === undefined;
      const target = free ? former : { port_id: null, fixed_address: null };
      const change = { ...target, tags: JSON.stringify(tags), task_id: null };
      await changeFloatingIp(tx, floatingIpId, change, clock.now());
      return asInRows(tx, [floatingIpId]);
    },
  };

  const convert: TaskEnd<FloatingIpConversion> = {
    ...CONVERT_FIP,
    async complete(tx, task, { floatingIpId, portId: id, macAddress, ...owner }) {
      await insertReservedFor(tx, floatingIpId, { id, macAddress, taskId: task.id }, clock.now());
      await addresses.handOverToPort(tx, floatingIpId, id);
      await deleteFloatingIp(tx, floatingIpId);
      await releaseQuota(tx, owner, 'floating_count');
      return { ports: [id] };
    },
    async abandon(tx, _task, { floatingIpId, ...owner }) {
      await changeFloatingIp(tx, floatingIpId, { task_id: null }, clock.now());
      await releaseQuota(tx, owner, 'reserved_fixed_ip_count');
      // The backend may have removed the floating IP already, to make room for the port.
      return asInRows(tx, [floatingIpId]);
    },
  };

  const remove: TaskEnd<FloatingIpInput> = {
    ...DELETE_FIP,
    removes: true,
    async complete(tx, task, input) {
      await removeRow(tx, task.id, input);
      return null;
    },
  };

  return [create, update, convert, remove];
}
