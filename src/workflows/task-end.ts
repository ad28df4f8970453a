import type { Logger } from 'pino';
import { TASK_ENDED } from '../convergence/endings.ts';
import { announce } from '../db/changes.ts';
import type { Database, Transaction } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { isTransient } from './failure.ts';
import type { TaskHandler } from './task-handler.ts';

export interface TaskEnding {
  database: Database;
  clock: Clock;
  log: Logger;
}

/** A task with what is needed to end it. `handler` is missing for a type this build does not know. */
export interface EndingTask {
  id: string;
  handler: TaskHandler | undefined;
  input: unknown;
}

/** Makes a task RUNNING. False when it has ended already. */
export async function beginTask({ database, clock }: TaskEnding, id: string): Promise<boolean> {
  const task = await database.sql
    .updateTable('tasks')
    .set({ state: 'RUNNING', updated_on: clock.now() })
    .where('id', '=', id)
    .where('state', 'in', ['NEW', 'RUNNING'])
    .executeTakeFirst();
  return task.numUpdatedRows > 0n;
}

/** Makes a task FINISHED together with what its handler completes. False, and nothing done, when it has ended already. */
export function finishTask(
  { database, clock }: TaskEnding,
  task: { id: string; handler: TaskHandler; input: unknown },
  result: unknown,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    if (!(await end(tx, task.id, { state: 'FINISHED', error: null, at: clock.now() }))) return false;
    const resources = await task.handler.complete(tx, { id: task.id }, task.input, result);
    if (resources !== null) {
      await tx.sql
        .updateTable('tasks')
        .set({ created_resources: JSON.stringify(resources) })
        .where('id', '=', task.id)
        .execute();
    }
    return true;
  });
}

/** Makes a task ERROR together with what its handler puts back. False, and nothing done, when it has ended already. */
export async function failTask(
  { database, clock, log }: TaskEnding,
  task: EndingTask,
  reason: string,
): Promise<boolean> {
  const ended = await database.transaction(async (tx) => {
    if (!(await end(tx, task.id, { state: 'ERROR', error: reason, at: clock.now() }))) return false;
    await tx.client.query('savepoint abandon');
    try {
      if (!task.handler) throw new Error('No handler and so nothing to put back');
      await task.handler.abandon(tx, { id: task.id }, task.input, reason);
    } catch (error) {
      if (isTransient(error)) throw error;
      // A task that can't be put back still has to end, or its readers wait for ever.
      await tx.client.query('rollback to savepoint abandon');
      log.error({ err: error, taskId: task.id }, 'the failed task left its resources as they were');
    }
    return true;
  });
  if (ended) log.info({ taskId: task.id, reason }, 'task failed');
  return ended;
}

/** The guard on the state is what makes a repeated end, or a late one, do nothing. */
async function end(
  tx: Transaction,
  id: string,
  { state, error, at }: { state: 'FINISHED' | 'ERROR'; error: string | null; at: Date },
): Promise<boolean> {
  const changed = await tx.sql
    .updateTable('tasks')
    .set({ state, error, updated_on: at, finished_on: at })
    .where('id', '=', id)
    .where('state', 'in', ['NEW', 'RUNNING'])
    .executeTakeFirst();
  if (changed.numUpdatedRows === 0n) return false;
  await announce(tx.client, TASK_ENDED, id);
  return true;
}
