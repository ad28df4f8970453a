import type { Sql, Transaction } from '../db/database.ts';
import { type Endings, endTask, lockTasks } from './waiting-tasks.ts';

/** Takes a deletion out of the line. Returns the task that it waited for; undefined if it doesn't wait any more. */
export async function stopWaiting(db: Sql, taskId: string): Promise<string | undefined> {
  const row = await db
    .deleteFrom('waiting_deletions')
    .where('task_id', '=', taskId)
    .returning('behind')
    .executeTakeFirst();
  return row?.behind;
}

/**
 * Ends a task that still waits for another one: there is nothing to undo. It is FINISHED, or fails with what `why` says of the
 * other one. Returns false if it doesn't wait.
 */
export async function endWaiting(
  endings: Pick<Endings, 'clock' | 'measures' | 'traces'>,
  tx: Transaction,
  taskId: string,
  why?: (behind: string) => string,
): Promise<boolean> {
  await lockTasks(tx, [{ id: taskId }]);
  const behind = await stopWaiting(tx.sql, taskId);
  if (behind === undefined) return false;
  const error = why?.(behind) ?? null;
  const state = error === null ? 'FINISHED' : 'ERROR';
  endTask(endings, tx, taskId, { state, error, at: endings.clock.now(), forget: false });
  return true;
}
