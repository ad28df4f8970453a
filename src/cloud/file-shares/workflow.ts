import type { TaskHandler } from '../../workflows/task-handler.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import type { FileShareBackend } from './backend.ts';
import { deleteShare, makeAvailable } from './store.ts';

export const CREATE_TASK = 'create_sfs';
export const DELETE_TASK = 'delete_sfs';
export const DEADLINE_MS = 10 * 60_000;

export interface FileShareJob {
  fileShareId: string;
  sizeGib: number;
  /** Whose quota it counts against. */
  clientId: number;
  regionId: number;
}

export function fileShareHandlers({ backend }: { backend: FileShareBackend }): TaskHandler[] {
  const create: TaskHandler<FileShareJob, string> = {
    type: CREATE_TASK,
    deadlineMs: DEADLINE_MS,
    async run(run, { fileShareId: id, sizeGib }) {
      const { connectionPoint, settlesInMs } = await run.step('create', () =>
        backend.create({ id, sizeGib }),
      );
      await run.sleep(settlesInMs);
      return connectionPoint;
    },
    async complete(tx, _task, { fileShareId }, connectionPoint) {
      await makeAvailable(tx, fileShareId, connectionPoint);
      return { file_shares: [fileShareId] };
    },
    async abandon(tx, _task, job) {
      if (await deleteShare(tx, job.fileShareId)) await releaseQuota(tx, job, 'sfs_count');
    },
  };

  const remove: TaskHandler<FileShareJob, null> = {
    type: DELETE_TASK,
    deadlineMs: DEADLINE_MS,
    async run(run, { fileShareId }) {
      const { settlesInMs } = await run.step('delete', () => backend.delete(fileShareId));
      await run.sleep(settlesInMs);
      return null;
    },
    async complete(tx, _task, job) {
      if (await deleteShare(tx, job.fileShareId)) await releaseQuota(tx, job, 'sfs_count');
      return null;
    },
    async abandon(tx, _task, { fileShareId }) {
      await makeAvailable(tx, fileShareId);
    },
  };

  return [create, remove];
}
