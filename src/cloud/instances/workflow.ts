import type { Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import type { InterfaceFloatingIps } from '../floating-ips/on-interfaces.ts';
import type { Addresses } from '../networks/addresses.ts';
import { freeReserved, lockPortsOf } from '../ports/reserved.ts';
import type { Ports } from '../ports/service.ts';
import { provision, unprovision } from '../provisioning/provisioner.ts';
import { releaseQuotas } from '../quotas/quotas.ts';
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
  /** Ports and floating IPs that are. */
  made: { portIds: string[]; floatingIpIds: string[] };
  clientId: number;
  regionId: number;
}

export interface InstanceRemoval {
  instanceId: string;
  /** Volumes that go with the instance. */
  volumeIds: string[];
  /** Reserved ports that do; the others are kept. */
  reservedPortIds: string[];
  floatingIpIds: string[];
  clientId: number;
  regionId: number;
}

interface Deps {
  clock: Clock;
  machines: InstanceBackend;
  addresses: Pick<Addresses, 'release'>;
  floatingIps: InterfaceFloatingIps;
  ports: Pick<Ports, 'removeOf'>;
  instanceVolumes: InstanceVolumes;
}

export function createInstanceHandler(deps: Deps): TaskHandler<InstanceInput, null> {
  const { clock, machines, instanceVolumes, floatingIps } = deps;
  return {
    type: CREATE_VM,
    deadlineMs: DEADLINE_MS,
    async run(run, { order, madeVolumeIds }) {
      await provision(run, machines, order, { id: order.id, diskIds: madeVolumeIds });
      return null;
    },
    async complete(tx, task, { order, madeVolumeIds, made }) {
      const now = clock.now();
      await floatingIps.settle(tx, task.id, now);
      await instanceVolumes.settle(tx, [order.id], now);
      await changeInstance(
        tx,
        order.id,
        { status: 'ACTIVE', vm_state: 'active', task_state: null, task_id: null },
        now,
      );
      return {
        instances: [order.id],
        volumes: madeVolumeIds,
        ports: made.portIds,
        floatingips: made.floatingIpIds,
      };
    },
    async abandon(tx, task, { order, madeVolumeIds, made, ...owner }) {
      const doomed = { volumeIds: madeVolumeIds, reservedPortIds: [], floatingIpIds: made.floatingIpIds };
      await removeRows(tx, task.id, order.id, doomed, deps, owner);
    },
  };
}

export function deleteInstanceHandler(deps: Deps): TaskHandler<InstanceRemoval, null> {
  const { clock, machines, instanceVolumes, floatingIps } = deps;
  return {
    type: DELETE_VM,
    deadlineMs: DEADLINE_MS,
    async run(run, { instanceId, volumeIds }) {
      await unprovision(run, machines, { id: instanceId, diskIds: volumeIds });
      return null;
    },
    async complete(tx, task, { instanceId, clientId, regionId, ...doomed }) {
      await removeRows(tx, task.id, instanceId, doomed, deps, { clientId, regionId });
      return null;
    },
    // The instance is still there as far as anybody knows, and its removal can be asked for again.
    async abandon(tx, task, { instanceId }) {
      const now = clock.now();
      await floatingIps.settle(tx, task.id, now);
      await instanceVolumes.settle(tx, [instanceId], now);
      await changeInstance(tx, instanceId, { task_state: null, task_id: null }, now);
    },
  };
}

/** In the order in which a creation locks the same rows, so that the two never wait for each other. */
async function removeRows(
  tx: Transaction,
  taskId: string,
  instanceId: string,
  doomed: Pick<InstanceRemoval, 'volumeIds' | 'reservedPortIds' | 'floatingIpIds'>,
  deps: Deps,
  owner: { clientId: number; regionId: number },
): Promise<void> {
  const { addresses, floatingIps, ports, instanceVolumes } = deps;
  const now = deps.clock.now();
  await lockForRemoval(tx, instanceId);
  const attached = await lockPortsOf(tx, instanceId);
  const goneFloatingIps = await floatingIps.letGo(
    tx,
    taskId,
    { portIds: attached.map(({ id }) => id), doomed: doomed.floatingIpIds },
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
  await instanceVolumes.detach(tx, [instanceId], doomed.volumeIds, now);
  await deleteInstance(tx, instanceId);
  await addresses.release(tx, gonePorts, goneFloatingIps);
  await releaseQuotas(tx, owner, {
    floating_count: goneFloatingIps.length,
    reserved_fixed_ip_count: doomed.reservedPortIds.length,
    vm_count: 1,
    volume_count: doomed.volumeIds.length,
  });
}
