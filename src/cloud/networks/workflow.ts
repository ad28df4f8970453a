import type { Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import { settled } from '../provisioning/settled.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import type { NetworkBackend } from './backend.ts';
import { changeNetwork, deleteNetwork, freeSubnetsOf } from './network-rows.ts';

export const CREATE_NETWORK = 'create_network';
export const UPDATE_NETWORK = 'update_network';
export const DELETE_NETWORK = 'delete_network';
export const DEADLINE_MS = 10 * 60_000;

export interface NetworkInput {
  networkId: string;
  /** Whose quota it counts against. */
  clientId: number;
  regionId: number;
}

/** What a network becomes, whole. */
export interface NetworkUpdate {
  networkId: string;
  name: string;
  tags: Record<string, string>;
}

export function networkHandlers({
  backend,
  clock,
}: {
  backend: NetworkBackend;
  clock: Clock;
}): TaskHandler[] {
  const create: TaskHandler<NetworkInput, null> = {
    type: CREATE_NETWORK,
    deadlineMs: DEADLINE_MS,
    async run(run, { networkId: id }) {
      return settled(run, 'put', () => backend.put({ kind: 'network', id }));
    },
    async complete(tx, _task, { networkId }) {
      await changeNetwork(tx, networkId, { ready: true, task_id: null });
      return { networks: [networkId] };
    },
    async abandon(tx, _task, input) {
      await removeNetwork(tx, input);
    },
  };

  const update: TaskHandler<NetworkUpdate, null> = {
    type: UPDATE_NETWORK,
    deadlineMs: DEADLINE_MS,
    async run(run, { networkId: id }) {
      return settled(run, 'put', () => backend.put({ kind: 'network', id }));
    },
    async complete(tx, _task, { networkId, name, tags }) {
      await changeNetwork(tx, networkId, {
        name,
        tags: JSON.stringify(tags),
        task_id: null,
        updated_at: clock.now(),
      });
      return null;
    },
    async abandon(tx, _task, { networkId }) {
      await changeNetwork(tx, networkId, { task_id: null });
    },
  };

  const remove: TaskHandler<NetworkInput, null> = {
    type: DELETE_NETWORK,
    deadlineMs: DEADLINE_MS,
    async run(run, { networkId: id }) {
      return settled(run, 'remove', () => backend.remove({ kind: 'network', id }));
    },
    async complete(tx, _task, input) {
      await removeNetwork(tx, input);
      return null;
    },
    async abandon(tx, _task, { networkId }) {
      await freeSubnetsOf(tx, networkId);
      await changeNetwork(tx, networkId, { ready: true, task_id: null });
    },
  };

  return [create, update, remove];
}

async function removeNetwork(tx: Transaction, input: NetworkInput): Promise<void> {
  const subnets = await deleteNetwork(tx, input.networkId);
  if (subnets === undefined) return;
  await releaseQuota(tx, input, 'network_count');
  if (subnets > 0) await releaseQuota(tx, input, 'subnet_count', subnets);
}
