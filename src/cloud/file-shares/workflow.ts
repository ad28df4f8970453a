import type { TaskHandler } from '../../workflows/task-handler.ts';
import { settled } from '../provisioning/settled.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import type { FileShareBackend, ShareChange } from './backend.ts';
import { deleteShare, makeAvailable, type SharePatch } from './store.ts';

export const CREATE_TASK = 'create_sfs';
export const UPDATE_TASK = 'update_sfs';
export const EXTEND_TASK = 'extend_sfs';
export const DELETE_TASK = 'delete_sfs';
export const DEADLINE_MS = 10 * 60_000;

export interface FileShareJob {
  fileShareId: string;
  sizeGib: number;
  /** Whose quota it counts against. */
  clientId: number;
  regionId: number;
}

export interface ShareChangeJob {
  fileShareId: string;
  change: ShareChange;
  /** What the row becomes when it is done. */
  patch: SharePatch;
}

export function fileShareHandlers({ backend }: { backend: FileShareBackend }): TaskHandler[] {
  const create: TaskHandler<FileShareJob, string> = {
    type: CREATE_TASK,
    deadlineMs: DEADLINE_MS,
    async run(run, { fileShareId: id, sizeGib }) {
      try {
        const made = await run.step('create', () => backend.create({ id, sizeGib }));
        await run.sleep(made.settlesInMs);
        return made.connectionPoint;
      } catch (error) {
        await run.step('remove what failed', () => backend.delete(id)).catch(() => {});
        throw error;
      }
    },
    async complete(tx, _task, { fileShareId }, connectionPoint) {
      await makeAvailable(tx, fileShareId, { connection_point: connectionPoint });
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
      return settled(run, 'delete', () => backend.delete(fileShareId));
    },
    async complete(tx, _task, job) {
      if (await deleteShare(tx, job.fileShareId)) await releaseQuota(tx, job, 'sfs_count');
      return null;
    },
    async abandon(tx, _task, { fileShareId }) {
      await makeAvailable(tx, fileShareId);
    },
  };

  const changing = (type: string): TaskHandler<ShareChangeJob, null> => ({
    type,
    deadlineMs: DEADLINE_MS,
    async run(run, { fileShareId, change }) {
      return settled(run, change.kind, () => backend.change(fileShareId, change));
    },
    async complete(tx, _task, { fileShareId, patch }) {
      await makeAvailable(tx, fileShareId, patch);
      return null;
    },
    async abandon(tx, _task, { fileShareId }) {
      await makeAvailable(tx, fileShareId);
    },
  });

  return [create, remove, changing(UPDATE_TASK), changing(EXTEND_TASK)];
}
