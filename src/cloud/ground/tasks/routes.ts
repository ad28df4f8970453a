import { goneSignal } from '../../../http/gone-signal.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import type { Platform } from '../../../platform.ts';
import { acknowledgementRoutes } from './acknowledgement-routes.ts';
import { presentedTask } from './presenter.ts';
import {
  ActiveTaskParams,
  ActiveTaskQuery,
  TaskList,
  TaskListQuery,
  TaskParams,
  Task as TaskSchema,
  WaitHeaders,
} from './schema.ts';
import { awaitTask, getTask, listActiveTasks, listTasks, stopWaiting } from './service.ts';
import { waitPreference } from './wait-preference.ts';

const tags = ['Tasks'];

/**
 * The specification polls `/v1/tasks/{task_id}`. The official clients poll the same task below `/cloud`, where some
 * names beside the IDs are other operations.
 */
const PATHS = [
  { url: '/v1/tasks/:task_id', operationId: 'getTask' },
  { url: '/cloud/v1/tasks/:task_id(^(?!acknowledge).*$)', operationId: 'getCloudTask' },
];

export function taskRoutes(app: Api, on: Platform): void {
  app.addHook('preClose', async () => stopWaiting(on));

  for (const { url, operationId } of PATHS) {
    app.get(url, {
      config: { access: 'read', uncounted: true },
      schema: {
        operationId,
        summary: 'Get a task',
        description:
          'Poll until `state` is FINISHED or ERROR, or use `Prefer: wait=N` to wait for that. ' +
          'The resources that the task created or changed can be read from that moment on.',
        tags,
        params: TaskParams,
        headers: WaitHeaders,
        response: { 200: TaskSchema },
      },
      handler: async ({ principal, params, headers }, reply) => {
        const seconds = waitPreference(headers.prefer);
        if (seconds === undefined) return presentedTask(await getTask(on, principal, params.task_id));
        const { task, waited } = await awaitTask(on, principal, params.task_id, {
          seconds,
          gone: goneSignal(reply),
        });
        if (waited) void reply.header('preference-applied', `wait=${seconds}`);
        return presentedTask(task);
      },
    });
  }

  app.get('/cloud/v1/tasks', {
    config: { access: 'read' },
    schema: {
      operationId: 'listTasks',
      summary: 'List tasks',
      description: 'Lists tasks of all projects of the account.',
      tags,
      querystring: TaskListQuery,
      response: { 200: TaskList },
    },
    handler: async ({ principal, query }) =>
      presentedPage(await listTasks(on, principal, query), presentedTask),
  });

  app.get('/cloud/v1/tasks/:project_id/:region_id/active', {
    config: { access: 'read' },
    schema: {
      operationId: 'listActiveTasks',
      summary: 'List active tasks',
      description: 'Lists tasks that have not ended, newest first.',
      tags,
      params: ActiveTaskParams,
      querystring: ActiveTaskQuery,
      response: { 200: TaskList },
    },
    handler: async ({ scope, query }) =>
      presentedPage(await listActiveTasks(on, scope, query), presentedTask),
  });

  acknowledgementRoutes(app, on);
}
