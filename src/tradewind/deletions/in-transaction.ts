import type { Sql } from '../../db/database.ts';

/** Returns the task that deletes the account; undefined if there is none. */
export async function deletingTask(db: Sql, clientId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('deletions')
    .select('task_id')
    .where('client_id', '=', clientId)
    .where('project_id', 'is', null)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return row?.task_id;
}
