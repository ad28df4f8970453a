import type { Transaction } from '../db/database.ts';

/** How the API hands accepted work to the durable engine. */
export interface TaskQueue {
  /**
   * Enqueues the work of a task in the caller's transaction, so that the task's row and the work commit
   * together or not at all. The workflow's id is the task's. Work of one `serialKey` runs in order.
   */
  enqueue(tx: Transaction, task: { id: string; type: string; input: object; serialKey: string }): Promise<void>;
  close(): Promise<void>;
}
