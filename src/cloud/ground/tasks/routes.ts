import { goneSignal } from '../../../http/gone-signal.ts';
import { operations } from '../../../http/operations.ts';
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
import { awaitTask, getTask, listActiveTasks, listTasks } from './service.ts';
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
  app.addHook('preClose', async () => on.taskWaiting.stop());

  const api = operations(app, { tags, params: TaskParams });

  for (const { url, operationId } of PATHS) {
    api.get(url, operationId, 'Get a task', {
      uncounted: true,
      description:
        'Poll until `state` is FINISHED or ERROR, or use `Prefer: wait=N` to wait for that. ' +
        'The resources that the task created or changed can be read from that moment on.',
      headers: WaitHeaders,
      answer: TaskSchema,
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

  api.get('/cloud/v1/tasks', 'listTasks', 'List tasks', {
    description: 'Lists tasks of all projects of the account.',
    query: TaskListQuery,
    answer: TaskList,
    handler: async ({ principal, query }) =>
      presentedPage(await listTasks(on, principal, query), presentedTask),
  });

  api.get('/cloud/v1/tasks/:project_id/:region_id/active', 'listActiveTasks', 'List active tasks', {
    description: 'Lists tasks that have not ended, newest first.',
    params: ActiveTaskParams,
    query: ActiveTaskQuery,
    answer: TaskList,
    handler: async ({ scope, query }) =>
      presentedPage(await listActiveTasks(on, scope, query), presentedTask),
  });

  acknowledgementRoutes(app, on);
}
