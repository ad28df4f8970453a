import type { TaskHandler } from '../../workflows/task-handler.ts';

const DELETE_PROJECT = 'delete_project';
const DEADLINE_MS = 60_000;

/** The project is gone when the task is accepted: it was empty, so that no infrastructure has to be removed. */
export function deleteProjectHandler(): TaskHandler<{ projectId: number }, null> {
  return {
    type: DELETE_PROJECT,
    deadlineMs: DEADLINE_MS,
    run: async () => null,
    complete: async () => null,
    async abandon() {},
  };
}
