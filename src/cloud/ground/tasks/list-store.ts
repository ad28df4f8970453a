import { sql as raw } from 'kysely';
import { onlyChecked, type Sql } from '../../../db/database.ts';
import { plannedPage } from '../../../db/page.ts';
import type { Page } from '../../../lib/page.ts';
import type { TaskListQuery } from './schema.ts';
import { ENDED, type TaskState } from './states.ts';
import type { TaskRow } from './store.ts';

// One by one: a plan that PostgreSQL has kept fails when a newer release adds a column to all of them.
const COLUMNS = [
  'id',
  'task_type',
  'state',
  'client_id',
  'user_id',
  'user_client_id',
  'project_id',
  'region_id',
  'request_id',
  'data',
  'input',
  'created_resources',
  'error',
  'created_on',
  'updated_on',
  'finished_on',
  'deadline_at',
  'acknowledged_at',
  'acknowledged_by',
] as const satisfies readonly (keyof TaskRow)[];

/** A list query with parsed times, and further restrictions. */
export interface TaskFilter extends Omit<TaskListQuery, 'state' | 'task_type'> {
  clientId?: number;
  state?: readonly TaskState[];
  task_type?: string | string[];
  /** Only tasks accepted at this time or later. */
  from?: Date | undefined;
  /** Only tasks accepted before this time. */
  before?: Date | undefined;
}

export async function listTasks(sql: Sql, filter: TaskFilter): Promise<Page<TaskRow>> {
  const { clientId, project_id, region_id, state, task_type, is_acknowledged, from, before } = filter;
  const order = filter.order_by ?? filter.sorting ?? 'desc';
  let tasks = sql.selectFrom('tasks');
  if (clientId !== undefined) tasks = tasks.where('client_id', '=', clientId);
  if (project_id) tasks = tasks.where('project_id', '=', any(project_id));
  if (region_id) tasks = tasks.where('region_id', '=', any(region_id));
  // As text, since the planner needs to know it for an index of unfinished tasks.
  if (state) tasks = tasks.where('state', 'in', state.map(raw.lit));
  if (task_type !== undefined) tasks = tasks.where('task_type', '=', any([task_type].flat()));
  if (is_acknowledged !== undefined) tasks = tasks.where('acknowledged_at', is_acknowledged ? 'is not' : 'is', null);
  if (from) tasks = tasks.where('created_on', '>=', from);
  if (before) tasks = tasks.where('created_on', '<', before);
  const ordered = tasks.select(COLUMNS).orderBy('created_on', order).orderBy('id', order);
  return plannedPage(sql, ordered, filter, 10);
}

/** Keeps the statement's text the same, however many values there are. */
const any = <T>(values: readonly T[]) => raw<T>`any(${values})`;

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

export async function acknowledgeEnded(sql: Sql, which: AcknowledgedTasks, acknowledgement: Acknowledgement) {
  let update = unacknowledged(sql, acknowledgement).where('client_id', '=', which.clientId).where('state', 'in', ENDED);
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
  const { clientId, projectId, regionId } = which;
  let query = sql.selectFrom('tasks').select('id').where('id', 'in', ids);
  for (const [column, value] of Object.entries({ client_id: clientId, project_id: projectId, region_id: regionId }))
    if (value !== undefined) query = query.where(onlyChecked(raw`${raw.ref(column)} = ${value}`));
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
