import type { Api } from '../../http/server.ts';
import { type Task, TaskParams, Task as TaskSchema } from './schema.ts';
import type { Tasks } from './service.ts';
import type { TaskRow } from './store.ts';

/** The specification polls `/v1/tasks/{task_id}`, the official clients the same task below `/cloud`. */
const PATHS = [
  { url: '/v1/tasks/:task_id', operationId: 'getTask' },
  { url: '/cloud/v1/tasks/:task_id', operationId: 'getCloudTask' },
];

export function taskRoutes(app: Api, { tasks }: { tasks: Tasks }): void {
  for (const { url, operationId } of PATHS) {
    app.get(url, {
      config: { access: 'read' },
      schema: {
        operationId,
        summary: 'Get a task',
        description:
          'Poll until `state` is FINISHED or ERROR. What the task made or changed can be read from that moment on.',
        tags: ['Tasks'],
        params: TaskParams,
        response: { 200: TaskSchema },
      },
      handler: async ({ principal, params }) => presented(await tasks.get(principal, params.task_id)),
    });
  }
}

export function presented(row: TaskRow): Task {
  return {
    id: row.id,
    task_type: row.task_type,
    state: row.state,
    detailed_state: null,
    created_on: taskTime(row.created_on),
    updated_on: row.updated_on && taskTime(row.updated_on),
    finished_on: row.finished_on && taskTime(row.finished_on),
    created_resources: row.created_resources,
    data: row.data,
    error: row.error,
    user_id: row.user_id,
    client_id: row.client_id,
    user_client_id: row.user_client_id,
    project_id: row.project_id,
    region_id: row.region_id,
    request_id: row.request_id,
    acknowledged_at: row.acknowledged_at && taskTime(row.acknowledged_at),
    acknowledged_by: row.acknowledged_by,
    job_id: null,
    schedule_id: null,
    lifecycle_policy_id: null,
  };
}

/** `YYYY-MM-DDThh:mm:ss`, in UTC and without saying so (contract 1.2). */
function taskTime(date: Date): string {
  return date.toISOString().slice(0, 19);
}
