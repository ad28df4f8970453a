import type { Sql } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Page } from '../../lib/page.ts';
import type { TaskRow } from './store.ts';
import type { TaskState } from './tables.ts';

export interface TaskFilter {
  clientId?: number;
  projectIds?: number[] | undefined;
  regionIds?: number[] | undefined;
  states?: readonly TaskState[] | undefined;
  types?: string[] | undefined;
  acknowledged?: boolean | undefined;
  /** Accepted at that time or later. */
  from?: Date | undefined;
  /** Accepted before that time. */
  before?: Date | undefined;
  order: 'asc' | 'desc';
  limit: number;
  offset: number;
}

export async function listTasks(sql: Sql, filter: TaskFilter): Promise<Page<TaskRow>> {
  const { clientId, projectIds, regionIds, states, types, acknowledged, from, before, order } = filter;
  let tasks = sql.selectFrom('tasks');
  if (clientId !== undefined) tasks = tasks.where('client_id', '=', clientId);
  if (projectIds) tasks = tasks.where('project_id', 'in', projectIds);
  if (regionIds) tasks = tasks.where('region_id', 'in', regionIds);
  if (states) tasks = tasks.where('state', 'in', states);
  if (types) tasks = tasks.where('task_type', 'in', types);
  if (acknowledged !== undefined)
    tasks = tasks.where('acknowledged_at', acknowledged ? 'is not' : 'is', null);
  if (from) tasks = tasks.where('created_on', '>=', from);
  if (before) tasks = tasks.where('created_on', '<', before);
  return pageWithCount(tasks.selectAll().orderBy('created_on', order).orderBy('id', order), filter);
}
