import type { Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import type { Addresses } from '../networks/addresses.ts';
import type { Ports } from '../ports/service.ts';
import { provision, unprovision } from '../provisioning/provisioner.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import type { InstanceVolumes } from '../volumes/instance-volumes.ts';
import type { InstanceBackend, MachineOrder } from './backend.ts';
import { changeInstance, deleteInstance, lockForRemoval } from './store.ts';

export const CREATE_VM = 'create_vm';
export const DELETE_VM = 'delete_vm';
export const DEADLINE_MS = 10 * 60_000;

export interface InstanceInput {
  order: MachineOrder;
  /** Volumes that are made for the instance. */
  madeVolumeIds: string[];
  clientId: number;
  regionId: number;
}

export interface InstanceRemoval {
  instanceId: string;
  /** Volumes that go with the instance. */
  volumeIds: string[];
  clientId: number;
  regionId: number;
}

interface Deps {
  clock: Clock;
  machines: InstanceBackend;
  addresses: Addresses;
  ports: Pick<Ports, 'removeOf'>;
  instanceVolumes: InstanceVolumes;
}

export function createInstanceHandler(deps: Deps): TaskHandler<InstanceInput, null> {
  const { clock, machines, instanceVolumes } = deps;
  return {
    type: CREATE_VM,
    deadlineMs: DEADLINE_MS,
    async run(run, { order, madeVolumeIds }) {
      await provision(run, machines, order, { id: order.id, diskIds: madeVolumeIds });
      return null;
    },
    async complete(tx, _task, { order, madeVolumeIds }) {
      const now = clock.now();
      await instanceVolumes.settle(tx, order.id, now);
      await changeInstance(
        tx,
        order.id,
        { status: 'ACTIVE', vm_state: 'active', task_state: null, task_id: null },
        now,
      );
      return {
        instances: [order.id],
        volumes: madeVolumeIds,
        ports: order.interfaces.map(({ portId }) => portId),
      };
    },
    async abandon(tx, _task, { order, madeVolumeIds, clientId, regionId }) {
      await removeRows(tx, order.id, madeVolumeIds, deps, { clientId, regionId });
    },
  };
}

export function deleteInstanceHandler(deps: Deps): TaskHandler<InstanceRemoval, null> {
  const { clock, machines, instanceVolumes } = deps;
  return {
    type: DELETE_VM,
    deadlineMs: DEADLINE_MS,
    async run(run, { instanceId, volumeIds }) {
      await unprovision(run, machines, { id: instanceId, diskIds: volumeIds });
      return null;
    },
    async complete(tx, _task, { instanceId, volumeIds, clientId, regionId }) {
      await removeRows(tx, instanceId, volumeIds, deps, { clientId, regionId });
      return null;
    },
    // The instance is still there as far as anybody knows, and its removal can be asked for again.
    async abandon(tx, _task, { instanceId }) {
      const now = clock.now();
      await instanceVolumes.settle(tx, instanceId, now);
      await changeInstance(tx, instanceId, { task_state: null, task_id: null }, now);
    },
  };
}

/** In the order in which a creation locks the same rows, so that the two never wait for each other. */
async function removeRows(
  tx: Transaction,
  instanceId: string,
  volumeIds: string[],
  { clock, addresses, ports, instanceVolumes }: Deps,
  owner: { clientId: number; regionId: number },
): Promise<void> {
  await lockForRemoval(tx, instanceId);
  const portIds = await ports.removeOf(tx, instanceId);
  await instanceVolumes.detach(tx, instanceId, volumeIds, clock.now());
  await deleteInstance(tx, instanceId);
  await addresses.release(tx, portIds);
  await releaseQuota(tx, owner, 'vm_count');
  if (volumeIds.length > 0) await releaseQuota(tx, owner, 'volume_count', volumeIds.length);
}
