import { type TaskEnd, type TaskType, taskType } from '../../../convergence/task-kind.ts';
import type { DdosField } from '../../../lib/ddos-profile.ts';
import { changeProfile, deleteProfile } from './store.ts';

interface ProfileInput {
  profileId: number;
}

/** A change is in the row from the beginning. */
interface ProfileChange extends ProfileInput {
  former: { template_id: number; fields: DdosField[]; active: boolean; bgp: boolean };
}

export const CREATE_PROFILE = taskType<ProfileInput>('create_ddos_profile');
export const UPDATE_PROFILE = taskType<ProfileChange>('update_ddos_profile');
export const ACTIVATE_PROFILE = taskType<ProfileChange>('activate_ddos_profile');
export const DEACTIVATE_PROFILE = taskType<ProfileChange>('deactivate_ddos_profile');
export const DELETE_PROFILE = taskType<ProfileInput>('delete_ddos_profile');

/** How tasks on DDoS profiles end. Rows may be gone by then, together with their address. */
export function ddosTasks(): TaskEnd[] {
  const create: TaskEnd<ProfileInput> = {
    ...CREATE_PROFILE,
    async complete(tx, _task, { profileId }) {
      await changeProfile(tx, profileId, { task_id: null, status: 'Created' });
      return { ddos_profiles: [profileId] };
    },
    abandon: (tx, _task, { profileId }) => deleteProfile(tx, profileId),
  };

  const change = (task: TaskType<ProfileChange>, done: string, failed: string): TaskEnd<ProfileChange> => ({
    ...task,
    async complete(tx, _task, { profileId }) {
      await changeProfile(tx, profileId, { task_id: null, status: done, error_description: '' });
      return null;
    },
    async abandon(tx, _task, { profileId, former }, reason) {
      await changeProfile(tx, profileId, {
        ...former,
        fields: JSON.stringify(former.fields),
        task_id: null,
        status: failed,
        error_description: reason,
      });
    },
  });

  const remove: TaskEnd<ProfileInput> = {
    ...DELETE_PROFILE,
    removes: true,
    async complete(tx, _task, { profileId }) {
      await deleteProfile(tx, profileId);
      return null;
    },
  };

  return [
    create,
    change(UPDATE_PROFILE, 'Updated', 'Error Updating'),
    change(ACTIVATE_PROFILE, 'Activated', 'Error Activating'),
    change(DEACTIVATE_PROFILE, 'Deactivated', 'Error Deactivating'),
    remove,
  ];
}
