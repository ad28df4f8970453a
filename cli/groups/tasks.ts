import type { ApiCommand } from '../api/api-command.ts';
import { type ClientCommand, textIn } from '../command.ts';
import { UsageError } from '../errors.ts';
import { waitForTask } from '../tasks/waiting.ts';

export const tasks: readonly (ApiCommand | ClientCommand)[] = [
  {
    name: 'task list',
    operation: 'listTasks',
    columns: {
      ID: 'id',
      TYPE: 'task_type',
      STATE: 'state',
      PROJECT: 'project_id',
      CREATED: 'created_on',
      FINISHED: 'finished_on',
      ERROR: 'error',
    },
    // An older name of --order-by.
    without: ['sorting'],
  },
  { name: 'task get', operation: 'getTask', arguments: ['task_id'] },
  {
    name: 'task steps',
    operation: 'listTaskSteps',
    arguments: ['task_id'],
    columns: { KIND: 'kind', ID: 'id', STATE: 'state', DOING: 'doing', FAILURES: 'failures' },
    rows: 'steps',
  },
  { name: 'task cancel', operation: 'cancelTask', arguments: ['task_id'] },
  { name: 'task acknowledge', operation: 'acknowledgeTask', arguments: ['task_id'] },
  {
    name: 'wait task',
    summary: 'Wait until a task has ended, and show what is being done',
    help: 'Ends with 4 if the task fails, with 5 after --timeout.',
    arguments: [{ name: 'task', text: 'Task ID' }],
    options: [
      {
        name: 'timeout',
        value: 'SECONDS',
        text: 'Wait no longer (for ever)',
        read(text) {
          if (!/^\d{1,7}$/.test(text)) throw new UsageError(`--timeout must be a number of seconds, not ${text}`);
          return Number(text);
        },
      },
    ],
    operations: ['getTask', 'listTaskSteps'],
    async run(context) {
      const { timeout } = context.values;
      const task = textIn(context.values, 'task') ?? '';
      const within = timeout === undefined ? undefined : Number(timeout) * 1_000;
      context.output.thing(await waitForTask(context, task, within));
    },
  },
];
