import { TaskParams } from '../../cloud/ground/tasks/schema.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { TaskSteps as TaskStepsSchema } from './schema.ts';
import { stepsOfTask } from './service.ts';

export function taskStepRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Events'], params: TaskParams });

  api.get('/tradewind/v1/tasks/:task_id/steps', 'listTaskSteps', 'List the steps of a task', {
    uncounted: true,
    description:
      'What the task wants of the infrastructure: what is done with each part of it, how often that failed, and why it waits. What was done when is known for 24 hours.',
    answer: TaskStepsSchema,
    handler: ({ principal, params }) => stepsOfTask(on, principal, params.task_id),
  });
}
