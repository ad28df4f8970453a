import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import { provision, unprovision } from '../provisioning/provisioner.ts';
import { settled } from '../provisioning/settled.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import { deleteAttachment } from './attachment-store.ts';
import type { DiskOrder, VolumeBackend } from './backend.ts';
import type { SnapshotRows } from './snapshot-rows.ts';
import { deleteVolumes, setStatus, settleVolume } from './store.ts';

export const CREATE_VOLUME = 'create_volume';
export const DELETE_VOLUME = 'delete_volume';
export const DEADLINE_MS = 10 * 60_000;

export interface VolumeInput {
  order: DiskOrder;
  /** Where it is attached to once it is there. */
  attach?: { instanceId: string; device: string };
  clientId: number;
  regionId: number;
}

export interface VolumeRemoval {
  volumeId: string;
  /** They go with the volume. */
  snapshotIds: string[];
  clientId: number;
  regionId: number;
}

interface Deps {
  clock: Clock;
  volumes: VolumeBackend;
  snapshots: SnapshotRows;
}

export function createVolumeHandler({ clock, volumes }: Deps): TaskHandler<VolumeInput, null> {
  return {
    type: CREATE_VOLUME,
    deadlineMs: DEADLINE_MS,
    async run(run, { order, attach }) {
      const undo = { id: order.id, snapshotIds: [] };
      await provision(run, volumes, order, undo);
      if (!attach) return null;
      try {
        const change = { kind: 'attach', diskId: order.id, ...attach } as const;
        await settled(run, 'attach', () => volumes.change(change));
      } catch (error) {
        await run.step('remove what is not attached', () => volumes.remove(undo)).catch(() => {});
        throw error;
      }
      return null;
    },
    async complete(tx, _task, { order }) {
      await settleVolume(tx, order.id, clock.now());
      return { volumes: [order.id] };
    },
    async abandon(tx, _task, { order, clientId, regionId }) {
      await deleteAttachment(tx, order.id);
      await deleteVolumes(tx, [order.id]);
      await releaseQuota(tx, { clientId, regionId }, 'volume_count');
    },
  };
}

export function deleteVolumeHandler({ clock, volumes, snapshots }: Deps): TaskHandler<VolumeRemoval, null> {
  return {
    type: DELETE_VOLUME,
    deadlineMs: DEADLINE_MS,
    async run(run, { volumeId, snapshotIds }) {
      await unprovision(run, volumes, { id: volumeId, snapshotIds });
      return null;
    },
    async complete(tx, _task, { volumeId, snapshotIds, clientId, regionId }) {
      await snapshots.drop(tx, snapshotIds, { clientId, regionId });
      await deleteVolumes(tx, [volumeId]);
      await releaseQuota(tx, { clientId, regionId }, 'volume_count');
      return null;
    },
    async abandon(tx, _task, { volumeId, snapshotIds }) {
      await snapshots.keep(tx, snapshotIds, clock.now());
      await setStatus(tx, [volumeId], 'available', null, clock.now());
    },
  };
}
