import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import { log } from './fixtures/log.ts';
import { openStage, type Stage } from './fixtures/stage.ts';
import { insertTask, marksOf, stepsHandler, taskOf } from './fixtures/tasks.ts';
import { beginTask, failTask, finishTask, type TaskEnding } from './task-end.ts';

let stage: Stage;
let ending: TaskEnding;

beforeAll(async () => {
  stage = await openStage();
  ending = { database: stage.database, clock: systemClock, log };
});

afterAll(() => stage?.close());

async function newTask() {
  const id = randomUUID();
  await stage.database.transaction((tx) => insertTask(tx, id, 'steps', 60_000));
  return { id, handler: stepsHandler(stage.database), input: { steps: [] } };
}

test('a finished task neither finishes again, nor fails, nor begins', async () => {
  const task = await newTask();
  expect(await finishTask(ending, task, ['a'])).toBe(true);
  expect(await finishTask(ending, task, ['b'])).toBe(false);
  expect(await failTask(ending, task, 'late')).toBe(false);
  expect(await beginTask(ending, task.id)).toBe(false);
  expect(await taskOf(stage, task.id)).toMatchObject({
    state: 'FINISHED',
    created_resources: { steps: ['a'] },
  });
  expect(await marksOf(stage, task.id)).toEqual(['complete']);
});

test('a failed task neither fails again nor finishes', async () => {
  const task = await newTask();
  expect(await failTask(ending, task, 'first')).toBe(true);
  expect(await failTask(ending, task, 'second')).toBe(false);
  expect(await finishTask(ending, task, ['a'])).toBe(false);
  expect(await taskOf(stage, task.id)).toMatchObject({
    state: 'ERROR',
    error: 'first',
    created_resources: null,
  });
  expect(await marksOf(stage, task.id)).toEqual(['abandon']);
});

test('a task whose completion fails is not finished', async () => {
  const task = await newTask();
  const handler = {
    ...task.handler,
    async complete(): Promise<never> {
      throw new Error('refused');
    },
  };
  await expect(finishTask(ending, { ...task, handler }, [])).rejects.toThrow('refused');
  expect(await taskOf(stage, task.id)).toMatchObject({ state: 'NEW', finished_on: null });
});
