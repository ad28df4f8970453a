import type pg from 'pg';
import type { Logger } from 'pino';
import { announce } from '../db/changes.ts';
import type { Transaction } from '../db/database.ts';
import { connectClient, ENGINE_VERSION, QUEUE, WORKFLOW } from './dbos.ts';
import type { TaskJob } from './task-workflow.ts';

/** The topic under which a worker hears that there is work. */
export const WORK_ANNOUNCED = 'tasks';

/** How the API hands over work. Needs no worker in this process. */
export interface TaskQueue {
  /**
   * Hands over the task whose row was inserted in the same transaction: both are there after the commit, or neither.
   * `input` must be plain JSON. Tasks start in the order of their transactions; that one resource has one
   * running task at a time is the affair of the resource's own lock.
   */
  enqueue(tx: Transaction, task: TaskJob): Promise<void>;
  /** Ends the task with ERROR within about a second, wherever it is; one that has ended stays as it is. */
  cancel(taskId: string): Promise<void>;
  close(): Promise<void>;
}

export async function connectTaskQueue({ pool, log }: { pool: pg.Pool; log: Logger }): Promise<TaskQueue> {
  const client = await connectClient(pool, log);
  return {
    async enqueue(tx, { id, type, input }) {
      await client.enqueueInTransaction(
        tx.client,
        { workflowID: id, workflowName: WORKFLOW, queueName: QUEUE, appVersion: ENGINE_VERSION },
        { id, type, input } satisfies TaskJob,
      );
      await announce(tx.client, WORK_ANNOUNCED, id);
    },
    cancel: (taskId) => client.cancelWorkflow(taskId),
    close: () => client.destroy(),
  };
}
