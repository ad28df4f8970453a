import type { MachineSpec, VolumeSpec } from '../../../backends/contract/specs.ts';
import { type TaskEnd, type TaskType, taskType } from '../../../convergence/task-kind.ts';
import { change, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import type { VolumeTypeName } from '../../ground/catalog/service.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/service.ts';
import { deleteAttachment } from './attachments/store.ts';
import * as snapshots from './snapshots/in-transaction.ts';
import type { VolumeShape } from './sources.ts';
import { changeVolume, deleteVolumes, settleVolume } from './store.ts';

interface VolumeInput extends QuotaOwner {
  volumeId: string;
}

interface VolumeRemoval extends VolumeInput {
  /** Snapshots that are deleted with the volume. */
  snapshotIds: string[];
}

/** What to write to the row once the infrastructure has changed. */
export interface VolumeChange {
  volumeId: string;
  sizeGib?: number;
  volumeType?: VolumeTypeName;
  /** The snapshot to which the volume reverts. */
  snapshotId?: string;
}

export const CREATE_VOLUME = taskType<VolumeInput>('create_volume');
export const DELETE_VOLUME = taskType<VolumeRemoval>('delete_volume');
export const ATTACH_VOLUME = taskType<VolumeChange>('attach_volume');
export const DETACH_VOLUME = taskType<VolumeChange>('detach_volume');
export const EXTEND_VOLUME = taskType<VolumeChange>('extend_volume');
export const RETYPE_VOLUME = taskType<VolumeChange>('retype_volume');
export const REVERT_VOLUME = taskType<VolumeChange>('revert_volume');

/** How tasks on volumes end. The task holds the volume until then; afterwards the volume is free in any case. */
export function volumeTasks(): TaskEnd[] {
  const create: TaskEnd<VolumeInput> = {
    ...CREATE_VOLUME,
    async complete(tx, _task, { volumeId }) {
      await settleVolume(tx, volumeId);
      return { volumes: [volumeId] };
    },
    async abandon(tx, _task, { volumeId, ...owner }) {
      await deleteAttachment(tx, volumeId);
      await deleteVolumes(tx, [volumeId]);
      releaseQuota(tx, owner, 'volume_count');
    },
  };

  const remove: TaskEnd<VolumeRemoval> = {
    ...DELETE_VOLUME,
    removes: true,
    async complete(tx, _task, { volumeId, snapshotIds, ...owner }) {
      await snapshots.drop(tx, snapshotIds, owner);
      await deleteVolumes(tx, [volumeId]);
      releaseQuota(tx, owner, 'volume_count');
    },
  };

  async function free(tx: Transaction, { volumeId, snapshotId }: VolumeChange): Promise<void> {
    await settleVolume(tx, volumeId);
    if (snapshotId !== undefined) await snapshots.settle(tx, [snapshotId]);
  }

  const change = (task: TaskType<VolumeChange>): TaskEnd<VolumeChange> => ({
    ...task,
    async complete(tx, _task, input) {
      const { volumeId, sizeGib, volumeType } = input;
      if (task === DETACH_VOLUME) await deleteAttachment(tx, volumeId);
      const changed = {
        ...(sizeGib && { size_gib: sizeGib }),
        ...(volumeType && { volume_type: volumeType }),
      };
      // First: it locks the instance as well.
      await free(tx, input);
      if (sizeGib ?? volumeType) await changeVolume(tx, volumeId, changed);
    },
    async abandon(tx, _task, input) {
      if (task === ATTACH_VOLUME) await deleteAttachment(tx, input.volumeId);
      await free(tx, input);
    },
  });

  const changes = [ATTACH_VOLUME, DETACH_VOLUME, EXTEND_VOLUME, RETYPE_VOLUME, REVERT_VOLUME].map(change);
  return [create, remove, ...changes];
}

export function volumeSpec(name: string, shape: VolumeShape, metadata: Record<string, string>): VolumeSpec {
  return {
    name,
    sizeGib: shape.sizeGib,
    volumeType: shape.volumeType,
    ...(shape.imageId !== null && { source: { imageId: shape.imageId } }),
    ...(shape.snapshotId !== null && { source: { snapshotId: shape.snapshotId } }),
    metadata,
  };
}

/** Adds the volume as a disk to an existing machine. */
export function onMachine(
  instanceId: string,
  volumeId: string,
  { device, tag }: { device: string; tag?: string | undefined },
): Wanted {
  const disk: MachineSpec['disks'][string] = {
    device,
    deleteOnTermination: false,
    ...(tag !== undefined && { tag }),
  };
  return change('machine', instanceId, (spec) => ({ ...spec, disks: { ...spec.disks, [volumeId]: disk } }));
}

export function offMachine(instanceId: string, volumeId: string): Wanted {
  return change('machine', instanceId, (spec) => {
    const { [volumeId]: _, ...disks } = spec.disks;
    return { ...spec, disks };
  });
}
