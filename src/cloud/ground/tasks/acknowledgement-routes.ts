import { Type } from 'typebox';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import { presentedTask } from './presenter.ts';
import { AcknowledgeQuery, AcknowledgeTasks, TaskParams, Task as TaskSchema } from './schema.ts';
import { acknowledgeEndedTasks, acknowledgeNamedTasks, acknowledgeTask } from './service.ts';

const BASE = '/cloud/v1/tasks';
const tags = ['Tasks'];

export function acknowledgementRoutes(app: Api, on: Platform): void {
  app.post(`${BASE}/:task_id/acknowledge`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'acknowledgeTask',
      summary: 'Acknowledge a task',
      description: 'Marks the task as seen by a user. The first acknowledgement and its time are kept.',
      tags,
      params: TaskParams,
      response: { 200: TaskSchema },
    },
    handler: async ({ principal, params }) =>
      presentedTask(await acknowledgeTask(on, principal, params.task_id)),
  });

  app.post(`${BASE}/acknowledge_all`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'acknowledgeAllTasks',
      summary: 'Acknowledge all tasks',
      description: 'Acknowledges all tasks of the account that have ended.',
      tags,
      querystring: AcknowledgeQuery,
      response: { 204: Type.Null() },
    },
    async handler({ principal, query }, reply) {
      await acknowledgeEndedTasks(on, principal, query);
      return reply.code(204).send(null);
    },
  });

  app.post(`${BASE}/acknowledge`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'acknowledgeTasks',
      summary: 'Acknowledge tasks by their IDs',
      deprecated: true,
      description: 'Use "Acknowledge a task" or "Acknowledge all tasks".',
      tags,
      querystring: AcknowledgeQuery,
      body: AcknowledgeTasks,
      response: { 204: Type.Null() },
    },
    async handler({ principal, query, body }, reply) {
      if (body.task_ids) await acknowledgeNamedTasks(on, principal, body.task_ids, query);
      else await acknowledgeEndedTasks(on, principal, query);
      return reply.code(204).send(null);
    },
  });
}
