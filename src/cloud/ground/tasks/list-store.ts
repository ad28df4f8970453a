import { sql as raw } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import { runPlanned } from '../../../db/planned.ts';
import type { Page } from '../../../lib/page.ts';
import type { TaskListQuery } from './schema.ts';
import type { TaskState } from './states.ts';
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
  if (is_acknowledged !== undefined)
    tasks = tasks.where('acknowledged_at', is_acknowledged ? 'is not' : 'is', null);
  if (from) tasks = tasks.where('created_on', '>=', from);
  if (before) tasks = tasks.where('created_on', '<', before);
  const ordered = tasks.select(COLUMNS).orderBy('created_on', order).orderBy('id', order);
  return pageWithCount(ordered, filter, 10, (query) => runPlanned(sql, query));
}

/** Keeps the statement's text the same, however many values there are. */
const any = <T>(values: readonly T[]) => raw<T>`any(${values})`;
