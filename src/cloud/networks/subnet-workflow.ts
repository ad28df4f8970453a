import type { Transaction } from '../../db/database.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import { settled } from '../provisioning/settled.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import type { NetworkBackend } from './backend.ts';
import { changeSubnet, deleteSubnet } from './subnet-rows.ts';

export const CREATE_SUBNET = 'create_subnet';
export const DELETE_SUBNET = 'delete_subnet';
export const DEADLINE_MS = 10 * 60_000;

export interface SubnetInput {
  subnetId: string;
  /** Whose quota it counts against. */
  clientId: number;
  regionId: number;
}

export function subnetHandlers({ backend }: { backend: NetworkBackend }): TaskHandler[] {
  const create: TaskHandler<SubnetInput, null> = {
    type: CREATE_SUBNET,
    deadlineMs: DEADLINE_MS,
    async run(run, { subnetId: id }) {
      return settled(run, 'put', () => backend.put({ kind: 'subnet', id }));
    },
    async complete(tx, _task, { subnetId }) {
      await changeSubnet(tx, subnetId, { ready: true, task_id: null });
      return { subnets: [subnetId] };
    },
    async abandon(tx, _task, input) {
      await removeSubnet(tx, input);
    },
  };

  const remove: TaskHandler<SubnetInput, null> = {
    type: DELETE_SUBNET,
    deadlineMs: DEADLINE_MS,
    async run(run, { subnetId: id }) {
      return settled(run, 'remove', () => backend.remove({ kind: 'subnet', id }));
    },
    async complete(tx, _task, input) {
      await removeSubnet(tx, input);
      return null;
    },
    async abandon(tx, _task, { subnetId }) {
      await changeSubnet(tx, subnetId, { ready: true, task_id: null });
    },
  };

  return [create, remove];
}

async function removeSubnet(tx: Transaction, input: SubnetInput): Promise<void> {
  if (await deleteSubnet(tx, input.subnetId)) await releaseQuota(tx, input, 'subnet_count');
}
