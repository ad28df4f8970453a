import { type TaskEnd, type TaskType, taskType } from '../../../convergence/task-kind.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/in-transaction.ts';
import { deleteShare, makeAvailable, type SharePatch } from './store.ts';

interface ShareInput extends QuotaOwner {
  fileShareId: string;
}

export interface ShareChange {
  fileShareId: string;
  /** What to write to the row when the task is done. */
  patch: SharePatch;
}

export const CREATE_SHARE = taskType<ShareInput>('create_sfs');
export const DELETE_SHARE = taskType<ShareInput>('delete_sfs');
export const UPDATE_SHARE = taskType<ShareChange>('update_sfs');
export const EXTEND_SHARE = taskType<ShareChange>('extend_sfs');

/** How tasks on file shares end. The task holds the share until then. */
export function fileShareTasks(): TaskEnd[] {
  const create: TaskEnd<ShareInput> = {
    ...CREATE_SHARE,
    async complete(tx, _task, { fileShareId }, seen) {
      const { connectionPoint } = seen('file_share', fileShareId);
      await makeAvailable(tx, fileShareId, { connection_point: connectionPoint });
      return { file_shares: [fileShareId] };
    },
    async abandon(tx, _task, { fileShareId, ...owner }) {
      await deleteShare(tx, fileShareId);
      await releaseQuota(tx, owner, 'sfs_count');
    },
  };

  const remove: TaskEnd<ShareInput> = {
    ...DELETE_SHARE,
    removes: true,
    async complete(tx, _task, { fileShareId, ...owner }) {
      await deleteShare(tx, fileShareId);
      await releaseQuota(tx, owner, 'sfs_count');
      return null;
    },
  };

  const change = (task: TaskType<ShareChange>): TaskEnd<ShareChange> => ({
    ...task,
    async complete(tx, _task, { fileShareId, patch }) {
      await makeAvailable(tx, fileShareId, patch);
      return null;
    },
    abandon: (tx, _task, { fileShareId }) => makeAvailable(tx, fileShareId),
  });

  return [create, remove, change(UPDATE_SHARE), change(EXTEND_SHARE)];
}
