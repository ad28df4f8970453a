import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import { provision, unprovision } from '../provisioning/provisioner.ts';
import type { SnapshotBackend } from './backend.ts';
import { snapshotRows } from './rows.ts';

export const CREATE_SNAPSHOT = 'create_snapshot';
export const DELETE_SNAPSHOT = 'delete_snapshot';
export const DEADLINE_MS = 10 * 60_000;

export interface SnapshotInput {
  snapshotId: string;
  volumeId: string;
  clientId: number;
  regionId: number;
}

interface Deps {
  clock: Clock;
  snapshots: SnapshotBackend;
}

export function createSnapshotHandler({ clock, snapshots }: Deps): TaskHandler<SnapshotInput, null> {
  return {
    type: CREATE_SNAPSHOT,
    deadlineMs: DEADLINE_MS,
    async run(run, { snapshotId, volumeId }) {
      await provision(run, snapshots, { id: snapshotId, volumeId }, { id: snapshotId });
      return null;
    },
    async complete(tx, _task, { snapshotId }) {
      await snapshotRows.keep(tx, [snapshotId], clock.now());
      return { snapshots: [snapshotId] };
    },
    async abandon(tx, _task, { snapshotId, ...owner }) {
      await snapshotRows.drop(tx, [snapshotId], owner);
    },
  };
}

export function deleteSnapshotHandler({ clock, snapshots }: Deps): TaskHandler<SnapshotInput, null> {
  return {
    type: DELETE_SNAPSHOT,
    deadlineMs: DEADLINE_MS,
    async run(run, { snapshotId }) {
      await unprovision(run, snapshots, { id: snapshotId });
      return null;
    },
    async complete(tx, _task, { snapshotId, ...owner }) {
      await snapshotRows.drop(tx, [snapshotId], owner);
      return null;
    },
    async abandon(tx, _task, { snapshotId }) {
      await snapshotRows.keep(tx, [snapshotId], clock.now());
    },
  };
}
