import type { Sql } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Page } from '../../lib/page.ts';
import type { TaskListQuery } from './schema.ts';
import type { TaskRow } from './store.ts';
import type { TaskState } from './tables.ts';

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
  if (project_id) tasks = tasks.where('project_id', 'in', project_id);
  if (region_id) tasks = tasks.where('region_id', 'in', region_id);
  if (state) tasks = tasks.where('state', 'in', state);
  if (task_type !== undefined) tasks = tasks.where('task_type', 'in', [task_type].flat());
  if (is_acknowledged !== undefined)
    tasks = tasks.where('acknowledged_at', is_acknowledged ? 'is not' : 'is', null);
  if (from) tasks = tasks.where('created_on', '>=', from);
  if (before) tasks = tasks.where('created_on', '<', before);
  return pageWithCount(tasks.selectAll().orderBy('created_on', order).orderBy('id', order), filter, 10);
}
