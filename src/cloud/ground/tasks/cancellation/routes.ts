import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { presentedTask, TaskParams, Task as TaskSchema } from '../schema.ts';
import { cancelTask } from './service.ts';

export function taskCancellationRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Tasks'], params: TaskParams });

  api.post('/tradewind/v1/tasks/:task_id/cancel', 'cancelTask', 'Cancel a task', {
    description:
      'Ends the task with an ERROR, and undoes what it began, as if it had failed. Removals, and changes that nothing can undo, are refused.',
    answer: TaskSchema,
    handler: async ({ principal, params }) => presentedTask(await cancelTask(on, principal, params.task_id)),
  });
}
