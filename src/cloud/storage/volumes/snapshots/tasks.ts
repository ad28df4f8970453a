import { type TaskEnd, taskType } from '../../../../convergence/task-kind.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { QuotaOwner } from '../../../ground/quotas/service.ts';
import * as rows from './in-transaction.ts';

export interface SnapshotInput extends QuotaOwner {
  snapshotId: string;
}

export const CREATE_SNAPSHOT = taskType<SnapshotInput>('create_snapshot');
export const DELETE_SNAPSHOT = taskType<SnapshotInput>('delete_snapshot');

/** How tasks on snapshots end. */
export function snapshotTasks({ clock }: { clock: Clock }): TaskEnd[] {
  const create: TaskEnd<SnapshotInput> = {
    ...CREATE_SNAPSHOT,
    async complete(tx, _task, { snapshotId }) {
      await rows.settle(tx, [snapshotId], clock.now());
      return { snapshots: [snapshotId] };
    },
    abandon: (tx, _task, { snapshotId, ...owner }) => rows.drop(tx, [snapshotId], owner),
  };
  const remove: TaskEnd<SnapshotInput> = {
    ...DELETE_SNAPSHOT,
    removes: true,
    async complete(tx, _task, { snapshotId, ...owner }) {
      await rows.drop(tx, [snapshotId], owner);
      return null;
    },
  };
  return [create, remove];
}
