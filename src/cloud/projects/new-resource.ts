import type { Place } from './place.ts';

/** The columns of a resource that say where it is, and that a task has begun to make it. */
export function newResource({ projectId, regionId }: Place, taskId: string, now: Date) {
  return {
    project_id: projectId,
    region_id: regionId,
    creator_task_id: taskId,
    task_id: taskId,
    created_at: now,
    updated_at: now,
  };
}
