import { type Endings, endTask } from '../../convergence/waiting-tasks.ts';
import type { Transaction } from '../../db/database.ts';

/** Sets a task of `beginWork` to RUNNING. */
export async function workBegins(tx: Transaction, id: string, now: Date): Promise<void> {
  await tx.sql
    .updateTable('tasks')
    .set({ state: 'RUNNING', updated_on: now })
    .where('id', '=', id)
    .where('state', '=', 'NEW')
    .execute();
}

/** Sets a task of `beginWork` to FINISHED, unless its deadline has ended it. */
export async function workEnds(
  tx: Transaction,
  id: string,
  now: Date,
  endings: Pick<Endings, 'measures' | 'traces'>,
): Promise<void> {
  const task = await tx.sql
    .selectFrom('tasks')
    .select('id')
    .where('id', '=', id)
    .where('state', 'in', ['NEW', 'RUNNING'])
    .forUpdate()
    .executeTakeFirst();
  if (task) await endTask(endings, tx, id, { state: 'FINISHED', error: null, at: now, forget: false });
}
