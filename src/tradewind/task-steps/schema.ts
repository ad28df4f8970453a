import { type Static, Type } from 'typebox';
import { Named, nullable } from '../../lib/wire.ts';

const Doing = (description: string, example?: string) =>
  nullable(Type.String({ description, ...(example !== undefined && { examples: [example] }) }));

const StepNote = Named('TaskStepNote', {
  at: Type.String({ format: 'date-time' }),
  state: Type.String({ description: 'The state from then on' }),
  doing: Doing('What was done from then on, or what it waited for'),
  failures: Type.Integer({ description: 'How many tries had failed in a row by then' }),
});

const TaskStep = Named('TaskStep', {
  kind: Type.String({
    description:
      'Kind of infrastructure, or of what is deleted; `task` while a deletion waits for another task',
    examples: ['machine'],
  }),
  id: Type.String({
    description: 'Its ID. Of what is deleted with a project or account: that of the project',
  }),
  state: Type.Enum(['waiting', 'doing', 'done', 'removed', 'given up'], {
    type: 'string',
    description:
      'waiting: nothing is done with it right now. done, removed: it is as wanted. given up: the task ended before that',
  }),
  doing: Doing(
    'What is being done, or why it waits',
    'waiting for network 7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90',
  ),
  failures: Type.Integer({ description: 'How many tries have failed in a row' }),
  history: Type.Array(StepNote, { description: 'What was done when, the oldest first' }),
});
export type TaskStep = Static<typeof TaskStep>;

export const TaskSteps = Named('TaskSteps', {
  task_id: Type.String({ format: 'uuid' }),
  state: Type.Enum(['NEW', 'RUNNING', 'FINISHED', 'ERROR'], { type: 'string' }),
  done: Type.Integer({ description: 'How many steps are done' }),
  of: Type.Integer({ description: 'How many steps there are' }),
  steps: Type.Array(TaskStep),
});
export type TaskSteps = Static<typeof TaskSteps>;
