import type { Sql } from '../../../db/database.ts';
import { ENDED } from './states.ts';

export interface Acknowledgement {
  by: number;
  at: Date;
}

export interface AcknowledgedTasks {
  clientId: number;
  projectId: number | undefined;
  regionId: number | undefined;
}

export async function acknowledgeTask(sql: Sql, id: string, { by, at }: Acknowledgement): Promise<void> {
  await unacknowledged(sql, { by, at }).where('id', '=', id).execute();
}

export async function acknowledgeEnded(
  sql: Sql,
  which: AcknowledgedTasks,
  acknowledgement: Acknowledgement,
): Promise<void> {
  let update = unacknowledged(sql, acknowledgement)
    .where('client_id', '=', which.clientId)
    .where('state', 'in', ENDED);
  if (which.projectId !== undefined) update = update.where('project_id', '=', which.projectId);
  if (which.regionId !== undefined) update = update.where('region_id', '=', which.regionId);
  await update.execute();
}

/** Acknowledges all of the tasks, or none if one doesn't exist. Returns those that don't. */
export async function acknowledgeNamed(
  sql: Sql,
  ids: string[],
  which: AcknowledgedTasks,
  acknowledgement: Acknowledgement,
): Promise<string[]> {
  if (ids.length === 0) return [];
  let query = sql
    .selectFrom('tasks')
    .select('id')
    .where('id', 'in', ids)
    .where('client_id', '=', which.clientId);
  if (which.projectId !== undefined) query = query.where('project_id', '=', which.projectId);
  if (which.regionId !== undefined) query = query.where('region_id', '=', which.regionId);
  const known = new Set((await query.execute()).map(({ id }) => id));
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length === 0) await unacknowledged(sql, acknowledgement).where('id', 'in', ids).execute();
  return missing;
}

/** The first acknowledgement of a task stays. */
function unacknowledged(sql: Sql, { by, at }: Acknowledgement) {
  return sql
    .updateTable('tasks')
    .set({ acknowledged_at: at, acknowledged_by: by })
    .where('acknowledged_at', 'is', null);
}
