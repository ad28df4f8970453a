import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { presentedTask } from '../presenter.ts';
import { TaskParams, Task as TaskSchema } from '../schema.ts';
import { cancelTask } from './service.ts';

export function taskCancellationRoutes(app: Api, on: Platform): void {
  app.post('/tradewind/v1/tasks/:task_id/cancel', {
    config: { access: 'operate' },
    schema: {
      operationId: 'cancelTask',
      summary: 'Cancel a task',
      description:
        'Ends the task with an ERROR, and undoes what it began, as if it had failed. Removals, and changes that nothing can undo, are refused.',
      tags: ['Tasks'],
      params: TaskParams,
      response: { 200: TaskSchema },
    },
    handler: async ({ principal, params }) => presentedTask(await cancelTask(on, principal, params.task_id)),
  });
}
