import { sql } from 'kysely';
import type { FloatingIpSpec, MachineSpec } from '../../../backends/contract/specs.ts';
import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import { change, remove, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { type QuotaOwner, releaseQuotas } from '../../ground/quotas/service.ts';
import * as addresses from '../../network/addresses/in-transaction.ts';
import * as floatingIps from '../../network/floating-ips/service.ts';
import { asInRows as floatingIpsInRows } from '../../network/floating-ips/tasks.ts';
import * as ports from '../../network/ports/in-transaction.ts';
import { freeReserved, lockPortsOf } from '../../network/ports/reserved/in-transaction.ts';
import { asInRows as portsInRows } from '../../network/ports/tasks.ts';
import * as volumes from '../../storage/volumes/of-instances/in-transaction.ts';
import { changeInstance, deleteInstance, lockForRemoval } from './store.ts';

interface InstanceInput extends QuotaOwner {
  instanceId: string;
  madeVolumeIds: string[];
  /** Ports and floating IPs that are created for it. */
  made: { portIds: string[]; floatingIpIds: string[] };
}

interface InstanceRemoval extends QuotaOwner {
  instanceId: string;
  volumeIds: string[];
  /** Reserved ports that are deleted with it; the others are kept. */
  reservedPortIds: string[];
  floatingIpIds: string[];
}

export const CREATE_VM = taskType<InstanceInput>('create_vm');
export const DELETE_VM = taskType<InstanceRemoval>('delete_vm');

/** How the creation and the removal of an instance end. */
export function instanceTasks(): TaskEnd[] {
  const create: TaskEnd<InstanceInput> = {
    ...CREATE_VM,
    async complete(tx, task, { instanceId, madeVolumeIds, made }) {
      await floatingIps.settle(tx, task.id);
      await volumes.settle(tx, [instanceId]);
      const running = { status: 'ACTIVE', vm_state: 'active', task_state: null, task_id: null } as const;
      await changeInstance(tx, instanceId, running);
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
      await removeRows(tx, task.id, instanceId, given, owner);
    },
  };

  const remove: TaskEnd<InstanceRemoval> = {
    ...DELETE_VM,
    removes: true,
    complete: (tx, task, { instanceId, clientId, regionId, ...doomed }) =>
      removeRows(tx, task.id, instanceId, doomed, { clientId, regionId }),
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
): Promise<void> {
  await lockForRemoval(tx, instanceId);
  const attached = await lockPortsOf(tx, instanceId);
  const goneFloatingIps = await floatingIps.letGo(tx, taskId, {
    portIds: doomed.gonePortIds ?? attached.map(({ id }) => id),
    doomed: doomed.floatingIpIds,
  });
  const kept = attached.filter(({ id, reserved }) => reserved && !doomed.reservedPortIds.includes(id));
  await freeReserved(
    tx,
    taskId,
    kept.map(({ id }) => id),
  );
  const gonePorts = await ports.deletePortsOf(tx, [instanceId]);
  await volumes.detach(tx, [instanceId], doomed.volumeIds);
  await deleteInstance(tx, instanceId);
  await addresses.release(tx, gonePorts, goneFloatingIps);
  releaseQuotas(tx, owner, {
    floating_count: goneFloatingIps.length,
    reserved_fixed_ip_count: doomed.reservedPortIds.length,
    vm_count: 1,
    volume_count: doomed.volumeIds.length,
  });
}

interface MachineRows {
  name: string;
  flavor_id: string;
  server_group_id: string | null;
  tags: Record<string, string>;
  disks: {
    volume_id: string;
    device: string;
    boot_index: number | null;
    attachment_tag: string | null;
    delete_on_termination: boolean;
  }[];
  ports: { id: string; position: number }[];
}

/** What is only in the request for a new machine. */
export interface FirstBoot {
  publicKey: string | undefined;
  username: string | undefined;
  secrets: Record<string, string>;
}

/** Returns the spec of a running machine, from its rows in the transaction. */
export async function newMachineSpec(
  tx: Transaction,
  instanceId: string,
  { publicKey, username, secrets }: FirstBoot,
): Promise<MachineSpec> {
  const { rows } = await sql<MachineRows>`
    select name, flavor_id, tags,
      (select server_group_id from server_group_members where instance_id = instances.id) as server_group_id,
      (select coalesce(json_agg(attachment), '[]') from volume_attachments as attachment
        where instance_id = instances.id) as disks,
      (select coalesce(json_agg(json_build_object('id', id, 'position', position)), '[]') from ports
        where instance_id = instances.id) as ports
    from instances where id = ${instanceId}`.execute(tx.sql);
  const [machine] = rows;
  if (!machine) throw new TypeError('the instance was written before');
  return {
    name: machine.name,
    flavorId: machine.flavor_id,
    disks: Object.fromEntries(machine.disks.map((disk) => [disk.volume_id, diskSpec(disk)])),
    ports: Object.fromEntries(machine.ports.map(({ id, position }) => [id, { position }])),
    ...(machine.server_group_id !== null && { serverGroupId: machine.server_group_id }),
    ...(publicKey !== undefined && { publicKey }),
    ...(username !== undefined && { username }),
    secrets: Object.fromEntries(Object.keys(secrets).map((name) => [name, true])),
    power: 'on',
    reboots: { soft: 0, hard: 0 },
    metadata: machine.tags,
  };
}

function diskSpec(disk: MachineRows['disks'][number]): MachineSpec['disks'][string] {
  return {
    device: disk.device,
    ...(disk.boot_index !== null && { bootIndex: disk.boot_index }),
    ...(disk.attachment_tag !== null && { tag: disk.attachment_tag }),
    deleteOnTermination: disk.delete_on_termination,
  };
}

export const ofMachine = (id: string, changed: (spec: MachineSpec) => Partial<MachineSpec>): Wanted =>
  change('machine', id, (spec) => ({ ...spec, ...changed(spec) }));

/** Wants ports and floating IPs as their rows are now, new or not. */
export async function asRows(
  tx: Transaction,
  { portIds, floatingIpIds }: { portIds: readonly string[]; floatingIpIds: readonly string[] },
): Promise<Wanted[]> {
  return [...(await portsInRows(tx, portIds)), ...(await floatingIpsInRows(tx, floatingIpIds))];
}

/** Wants floating IPs of ports that are removed: the doomed ones are removed, the others lose their target. */
export function withoutTarget(ids: readonly string[], doomed: readonly string[]): Wanted[] {
  const nowhere = ({ target: _, ...spec }: FloatingIpSpec): FloatingIpSpec => spec;
  return ids.map((id) => (doomed.includes(id) ? remove('floating_ip', id) : change('floating_ip', id, nowhere)));
}
