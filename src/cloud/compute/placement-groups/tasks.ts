import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/service.ts';
import { deleteGroup } from './store.ts';

interface GroupInput extends QuotaOwner {
  groupId: string;
}

export const DELETE_SERVERGROUP = taskType<GroupInput>('delete_servergroup');

/** How tasks on placement groups end. Their creation needs none. */
export function placementGroupTasks(): TaskEnd[] {
  const remove: TaskEnd<GroupInput> = {
    ...DELETE_SERVERGROUP,
    removes: true,
    async complete(tx, _task, { groupId, ...owner }) {
      await deleteGroup(tx, groupId);
      await releaseQuota(tx, owner, 'servergroup_count');
      return null;
    },
  };
  return [remove];
}
