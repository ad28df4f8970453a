import type { Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import { settled } from '../provisioning/settled.ts';
import { deleteAttachment } from './attachment-store.ts';
import type { DiskChange, VolumeBackend } from './backend.ts';
import type { SnapshotRows } from './snapshot-rows.ts';
import { changeVolume, settleVolume } from './store.ts';

/** The task type of each change. */
export const CHANGES = {
  attach: 'attach_volume',
  detach: 'detach_volume',
  extend: 'extend_volume',
  retype: 'retype_volume',
  revert: 'revert_volume',
} as const satisfies Record<DiskChange['kind'], string>;

export const CHANGE_DEADLINE_MS = 10 * 60_000;

interface Deps {
  clock: Clock;
  volumes: VolumeBackend;
  snapshots: Pick<SnapshotRows, 'keep'>;
}

/** Work on volumes that exist: the volume is held meanwhile, and whatever happens it is free afterwards. */
export function volumeChangeHandlers(deps: Deps): TaskHandler[] {
  return Object.values(CHANGES).map((type) => changeHandler(type, deps));
}

function changeHandler(type: string, { clock, volumes, snapshots }: Deps): TaskHandler<DiskChange, null> {
  const end = async (tx: Transaction, change: DiskChange) => {
    if (change.kind === 'revert') await snapshots.keep(tx, [change.snapshotId], clock.now());
    await settleVolume(tx, change.diskId, clock.now());
  };
  return {
    type,
    deadlineMs: CHANGE_DEADLINE_MS,
    async run(run, change) {
      return settled(run, change.kind, () => volumes.change(change));
    },
    async complete(tx, _task, change) {
      if (change.kind === 'detach') await deleteAttachment(tx, change.diskId);
      if (change.kind === 'extend') {
        await changeVolume(tx, change.diskId, { size_gib: change.sizeGib }, clock.now());
      }
      if (change.kind === 'retype') {
        await changeVolume(tx, change.diskId, { volume_type: change.volumeType }, clock.now());
      }
      await end(tx, change);
      return null;
    },
    async abandon(tx, _task, change) {
      if (change.kind === 'attach') await deleteAttachment(tx, change.diskId);
      await end(tx, change);
    },
  };
}
