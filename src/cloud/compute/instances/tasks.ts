import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type QuotaOwner, releaseQuotas } from '../../ground/quotas/in-transaction.ts';
import * as addresses from '../../network/addresses/in-transaction.ts';
import * as floatingIps from '../../network/floating-ips/in-transaction.ts';
import * as ports from '../../network/ports/in-transaction.ts';
import { freeReserved, lockPortsOf } from '../../network/ports/reserved/in-transaction.ts';
import * as volumes from '../../storage/volumes/of-instances/in-transaction.ts';
import { changeInstance, deleteInstance, lockForRemoval } from './store.ts';

interface InstanceInput extends QuotaOwner {
  instanceId: string;
  /** Volumes that are created for the instance. */
  madeVolumeIds: string[];
  /** Ports and floating IPs that are created for it. */
  made: { portIds: string[]; floatingIpIds: string[] };
}

interface InstanceRemoval extends QuotaOwner {
  instanceId: string;
  /** Volumes that are deleted with the instance. */
  volumeIds: string[];
  /** Reserved ports that are deleted with it; the others are kept. */
  reservedPortIds: string[];
  floatingIpIds: string[];
}

export const CREATE_VM = taskType<InstanceInput>('create_vm');
export const DELETE_VM = taskType<InstanceRemoval>('delete_vm');

/** How the creation and the removal of an instance end. */
export function instanceTasks({ clock }: { clock: Clock }): TaskEnd[] {
  const create: TaskEnd<InstanceInput> = {
    ...CREATE_VM,
    async complete(tx, task, { instanceId, madeVolumeIds, made }) {
      const now = clock.now();
      await floatingIps.settle(tx, task.id, now);
      await volumes.settle(tx, [instanceId], now);
      const running = { status: 'ACTIVE', vm_state: 'active', task_state: null, task_id: null } as const;
      await changeInstance(tx, instanceId, running, now);
      return {
        instances: [instanceId],
        volumes: madeVolumeIds,
        ports: made.portIds,
        floatingips: made.floatingIpIds,
      };
    },
    async abandon(tx, task, { instanceId, madeVolumeIds, made, ...owner }) {
      const doomed = { volumeIds: madeVolumeIds, reservedPortIds: [], floatingIpIds: made.floatingIpIds };
      // A floating IP that led to a reserved port before leads there afterwards.
      const given = { ...doomed, gonePortIds: made.portIds };
      await removeRows(tx, task.id, instanceId, given, owner, clock.now());
    },
  };

  const remove: TaskEnd<InstanceRemoval> = {
    ...DELETE_VM,
    removes: true,
    async complete(tx, task, { instanceId, clientId, regionId, ...doomed }) {
      await removeRows(tx, task.id, instanceId, doomed, { clientId, regionId }, clock.now());
      return null;
    },
  };

  return [create, remove];
}

/** Locks rows in the same order as a creation, so that the two never wait for each other. */
async function removeRows(
  tx: Transaction,
  taskId: string,
  instanceId: string,
  doomed: Pick<InstanceRemoval, 'volumeIds' | 'reservedPortIds' | 'floatingIpIds'> & {
    gonePortIds?: string[];
  },
  owner: QuotaOwner,
  now: Date,
): Promise<void> {
  await lockForRemoval(tx, instanceId);
  const attached = await lockPortsOf(tx, instanceId);
  const goneFloatingIps = await floatingIps.letGo(
    tx,
    taskId,
    { portIds: doomed.gonePortIds ?? attached.map(({ id }) => id), doomed: doomed.floatingIpIds },
    now,
  );
  const kept = attached.filter(({ id, reserved }) => reserved && !doomed.reservedPortIds.includes(id));
  await freeReserved(
    tx,
    taskId,
    kept.map(({ id }) => id),
    now,
  );
  const gonePorts = await ports.removeOf(tx, [instanceId]);
  await volumes.detach(tx, [instanceId], doomed.volumeIds, now);
  await deleteInstance(tx, instanceId);
  await addresses.release(tx, gonePorts, goneFloatingIps);
  await releaseQuotas(tx, owner, {
    floating_count: goneFloatingIps.length,
    reserved_fixed_ip_count: doomed.reservedPortIds.length,
    vm_count: 1,
    volume_count: doomed.volumeIds.length,
  });
}
