import type { Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import type { Addresses } from '../networks/addresses.ts';
import type { NetworkBackend } from '../networks/backend.ts';
import { settled } from '../provisioning/settled.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import { changeFloatingIp, isFree, letGo, settle } from './store.ts';

export const CREATE_FIP = 'create_fip';
export const UPDATE_FIP = 'update_floating_ip';
export const DELETE_FIP = 'delete_fip';
export const DEADLINE_MS = 10 * 60_000;

export interface FloatingIpInput {
  floatingIpId: string;
  /** Whose quota it counts against. */
  clientId: number;
  regionId: number;
}

/** An update is written when it is accepted; this is what it was before. */
export interface FloatingIpUpdate {
  floatingIpId: string;
  former: { port_id: string | null; fixed_address: string | null; tags: Record<string, string> };
}

interface Deps {
  clock: Clock;
  backend: NetworkBackend;
  addresses: Pick<Addresses, 'release'>;
}

export function floatingIpHandlers({ clock, backend, addresses }: Deps): TaskHandler[] {
  async function remove(tx: Transaction, taskId: string, { floatingIpId, ...owner }: FloatingIpInput) {
    const removed = await letGo(tx, taskId, { portIds: [], doomed: [floatingIpId] }, clock.now());
    if (removed.length === 0) return;
    await addresses.release(tx, [], removed);
    await releaseQuota(tx, owner, 'floating_count', removed.length);
  }

  const create: TaskHandler<FloatingIpInput, null> = {
    type: CREATE_FIP,
    deadlineMs: DEADLINE_MS,
    async run(run, { floatingIpId: id }) {
      return settled(run, 'put', () => backend.put({ kind: 'floating-ip', id }));
    },
    async complete(tx, task, { floatingIpId }) {
      await settle(tx, task.id, clock.now());
      return { floatingips: [floatingIpId] };
    },
    abandon: (tx, task, input) => remove(tx, task.id, input),
  };

  const update: TaskHandler<FloatingIpUpdate, null> = {
    type: UPDATE_FIP,
    deadlineMs: DEADLINE_MS,
    async run(run, { floatingIpId: id }) {
      return settled(run, 'put', () => backend.put({ kind: 'floating-ip', id }));
    },
    async complete(tx, task) {
      await settle(tx, task.id, clock.now());
      return null;
    },
    async abandon(tx, _task, { floatingIpId, former: { tags, ...former } }) {
      const { port_id, fixed_address } = former;
      const back = port_id !== null && fixed_address !== null;
      const free = back && (await isFree(tx, floatingIpId, { port_id, fixed_address }));
      const target = free ? former : { port_id: null, fixed_address: null };
      const change = { ...target, tags: JSON.stringify(tags), task_id: null };
      await changeFloatingIp(tx, floatingIpId, change, clock.now());
    },
  };

  const free: TaskHandler<FloatingIpInput, null> = {
    type: DELETE_FIP,
    deadlineMs: DEADLINE_MS,
    async run(run, { floatingIpId: id }) {
      return settled(run, 'remove', () => backend.remove({ kind: 'floating-ip', id }));
    },
    async complete(tx, task, input) {
      await remove(tx, task.id, input);
      return null;
    },
    abandon: (tx, task) => settle(tx, task.id, clock.now()),
  };

  return [create, update, free];
}
