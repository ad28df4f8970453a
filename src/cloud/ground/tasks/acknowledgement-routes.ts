import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import { presentedTask } from './presenter.ts';
import { AcknowledgeQuery, AcknowledgeTasks, TaskParams, Task as TaskSchema } from './schema.ts';
import { acknowledgeEndedTasks, acknowledgeNamedTasks, acknowledgeTask } from './service.ts';

const BASE = '/cloud/v1/tasks';
const tags = ['Tasks'];

export function acknowledgementRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags });

  api.post(`${BASE}/:task_id/acknowledge`, 'acknowledgeTask', 'Acknowledge a task', {
    description: 'Marks the task as seen by a user. The first acknowledgement and its time are kept.',
    params: TaskParams,
    answer: TaskSchema,
    handler: async ({ principal, params }) =>
      presentedTask(await acknowledgeTask(on, principal, params.task_id)),
  });

  api.post(`${BASE}/acknowledge_all`, 'acknowledgeAllTasks', 'Acknowledge all tasks', {
    description: 'Acknowledges all tasks of the account that have ended.',
    query: AcknowledgeQuery,
    handler: ({ principal, query }) => acknowledgeEndedTasks(on, principal, query),
  });

  api.post(`${BASE}/acknowledge`, 'acknowledgeTasks', 'Acknowledge tasks by their IDs', {
    deprecated: true,
    description: 'Use "Acknowledge a task" or "Acknowledge all tasks".',
    query: AcknowledgeQuery,
    body: AcknowledgeTasks,
    handler: async ({ principal, query, body }) => {
      if (body.task_ids) await acknowledgeNamedTasks(on, principal, body.task_ids, query);
      else await acknowledgeEndedTasks(on, principal, query);
    },
  });
}
