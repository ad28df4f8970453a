import { type TaskEnd, taskType } from '../../convergence/task-kind.ts';

/** What a deletion needs to know is in its own table. */
type Nothing = Record<string, never>;

const A_WEEK = 7 * 24 * 60;
export const DELETE_CLIENT = taskType<Nothing>('delete_client', A_WEEK);
export const DELETE_CONTENTS = taskType<Nothing>('delete_project_with_contents', A_WEEK);

/** They end when their work does, and go on beyond their deadline: see `work/`. */
export function deletionTasks(): TaskEnd[] {
  return [DELETE_CLIENT, DELETE_CONTENTS].map(
    (type): TaskEnd => ({ ...type, removes: true, complete: async () => null }),
  );
}

/** The topic that tells workers of a new deletion. */
export const DELETIONS = 'deletions';
