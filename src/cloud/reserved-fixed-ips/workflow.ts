import type { Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import type { InterfaceFloatingIps } from '../floating-ips/on-interfaces.ts';
import type { Addresses } from '../networks/addresses.ts';
import type { NetworkBackend } from '../networks/backend.ts';
import { settled } from '../provisioning/settled.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import { deleteReserved, holdReserved } from './store.ts';

export const RESERVE_ADDRESS = 'create_reserved_fixed_ip';
export const FREE_ADDRESS = 'delete_reserved_fixed_ip';
export const DEADLINE_MS = 10 * 60_000;

export interface ReservedInput {
  portId: string;
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
  async function remove(tx: Transaction, taskId: string, { portId, ...owner }: ReservedInput): Promise<void> {
    if (!(await deleteReserved(tx, portId))) return;
    await floatingIps.letGo(tx, taskId, { portIds: [portId], doomed: [] }, clock.now());
    await addresses.release(tx, [portId]);
    await releaseQuota(tx, owner, 'reserved_fixed_ip_count');
  }

  const reserve: TaskHandler<ReservedInput, null> = {
    type: RESERVE_ADDRESS,
    deadlineMs: DEADLINE_MS,
    async run(run, { portId: id }) {
      return settled(run, 'put', () => backend.put({ kind: 'port', id }));
    },
    async complete(tx, _task, { portId }) {
      await holdReserved(tx, portId, null);
      return { ports: [portId] };
    },
    abandon: (tx, task, input) => remove(tx, task.id, input),
  };

  const free: TaskHandler<ReservedInput, null> = {
    type: FREE_ADDRESS,
    deadlineMs: DEADLINE_MS,
    async run(run, { portId: id }) {
      return settled(run, 'remove', () => backend.remove({ kind: 'port', id }));
    },
    async complete(tx, task, input) {
      await remove(tx, task.id, input);
      return null;
    },
    abandon: (tx, _task, { portId }) => holdReserved(tx, portId, null),
  };

  return [reserve, free];
}
