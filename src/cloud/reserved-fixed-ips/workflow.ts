import type { Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import { floatingIpOfPort } from '../floating-ips/of-port.ts';
import type { InterfaceFloatingIps } from '../floating-ips/on-interfaces.ts';
import type { Addresses } from '../networks/addresses.ts';
import type { NetworkBackend } from '../networks/backend.ts';
import { settled } from '../provisioning/settled.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import { changeReserved, deleteReserved, lockAny } from './store.ts';
import { disconnectAll } from './vips.ts';

export const RESERVE_ADDRESS = 'create_reserved_fixed_ip';
export const FREE_ADDRESS = 'delete_reserved_fixed_ip';
export const CONVERT_ADDRESS = 'convert_reserved_fixed_ip_to_fip';
export const DEADLINE_MS = 10 * 60_000;

export interface ReservedInput {
  portId: string;
  /** Of a port that was an instance's before. */
  existed?: boolean;
  /** What it is to become. */
  floatingIpId?: string;
  /** Whose quota it counts against. */
  clientId: number;
  regionId: number;
}

interface Deps {
  clock: Clock;
  backend: NetworkBackend;
  addresses: Pick<Addresses, 'release'>;
  floatingIps: Pick<InterfaceFloatingIps, 'letGo'>;
}

export function reservedFixedIpHandlers({ clock, backend, addresses, floatingIps }: Deps): TaskHandler[] {
  const free = (tx: Transaction, id: string) => changeReserved(tx, id, { task_id: null });

  async function remove(tx: Transaction, taskId: string, input: ReservedInput): Promise<void> {
    const { portId } = input;
    const port = await lockAny(tx, portId);
    if (!port) return;
    if (port.is_vip) await disconnectAll(tx, port, clock.now());
    await deleteReserved(tx, portId);
    await floatingIps.letGo(tx, taskId, { portIds: [portId], doomed: [] }, clock.now());
    await addresses.release(tx, [portId]);
    await releaseQuota(tx, input, 'reserved_fixed_ip_count');
  }

  const reserve: TaskHandler<ReservedInput, null> = {
    type: RESERVE_ADDRESS,
    deadlineMs: DEADLINE_MS,
    async run(run, { portId: id }) {
      return settled(run, 'put', () => backend.put({ kind: 'port', id }));
    },
    async complete(tx, _task, { portId }) {
      await free(tx, portId);
      return { ports: [portId] };
    },
    async abandon(tx, task, input) {
      const port = await lockAny(tx, input.portId);
      // Its instance may have gone meanwhile.
      if (!input.existed || !port || port.instance_id === null) return remove(tx, task.id, input);
      await changeReserved(tx, port.id, { reserved: false, creator_task_id: null, task_id: null });
      await releaseQuota(tx, input, 'reserved_fixed_ip_count');
    },
  };

  const giveBack: TaskHandler<ReservedInput, null> = {
    type: FREE_ADDRESS,
    deadlineMs: DEADLINE_MS,
    async run(run, { portId: id }) {
      return settled(run, 'remove', () => backend.remove({ kind: 'port', id }));
    },
    async complete(tx, task, input) {
      await remove(tx, task.id, input);
      return null;
    },
    abandon: (tx, _task, { portId }) => free(tx, portId),
  };

  const convert: TaskHandler<ReservedInput, null> = {
    type: CONVERT_ADDRESS,
    deadlineMs: DEADLINE_MS,
    async run(run, { portId, floatingIpId: id = '' }) {
      // In this order: two can't have one address.
      await settled(run, 'remove', () => backend.remove({ kind: 'port', id: portId }));
      return settled(run, 'put', () => backend.put({ kind: 'floating-ip', id }));
    },
    async complete(tx, task, input) {
      const { portId, floatingIpId: id = '' } = input;
      await floatingIpOfPort(tx, { id, portId, taskId: task.id }, clock.now());
      await deleteReserved(tx, portId);
      await releaseQuota(tx, input, 'reserved_fixed_ip_count');
      return { floatingips: [id] };
    },
    async abandon(tx, _task, input) {
      await free(tx, input.portId);
      await releaseQuota(tx, input, 'floating_count');
    },
  };

  return [reserve, giveBack, convert];
}
