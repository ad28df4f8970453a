import { sql } from 'kysely';
import { announceAll } from '../../db/changes.ts';
import type { Transaction } from '../../db/database.ts';
import { AI_TASKS } from './store.ts';

/** Deletes some of an account's tasks. Whoever works on one of them stops. Returns how many there were. */
export async function deleteTasksOf(tx: Transaction, clientId: number, limit: number): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    delete from ai_tasks where id = any(array(
      select id from ai_tasks where client_id = ${clientId} order by created_at limit ${limit}))
    returning id`.execute(tx.sql);
  await announceAll(
    tx.client,
    AI_TASKS,
    rows.map(({ id }) => id),
  );
  return rows.length;
}
