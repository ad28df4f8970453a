import { type ClientCommand, textIn } from '../command.ts';
import { UsageError } from '../errors.ts';
import { waitForTask } from '../tasks/waiting.ts';

export const tasks: readonly ClientCommand[] = [
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
    async run(context) {
      const { timeout } = context.values;
      const task = textIn(context.values, 'task') ?? '';
      const within = timeout === undefined ? undefined : Number(timeout) * 1_000;
      context.output.thing(await waitForTask(context, task, within));
    },
  },
];
