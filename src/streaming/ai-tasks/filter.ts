import { type RawBuilder, sql } from 'kysely';
import type { Interval } from '../../lib/iso-interval.ts';
import { containing } from './search-text.ts';
import { STATUSES, type Status } from './states.ts';
import type { TaskData } from './task-data.ts';

/** Which of a client's tasks are wanted. */
export interface AiTaskFilter {
  clientId: number;
  taskId?: string | undefined;
  taskName?: TaskData['task_name'] | undefined;
  status?: Status | undefined;
  created?: Interval | undefined;
  /** In folded form; see search-text.ts. */
  search?: string | undefined;
}

/**
 * The condition on a row `task` of ai_tasks, whose status may stand elsewhere. `searchBy` decides whether the
 * trigram index may answer a search (`index`) or each row is to be looked at as it comes (`row`).
 */
export function matches(
  filter: AiTaskFilter,
  searchBy: 'index' | 'row',
  status: RawBuilder<unknown> = sql.ref('task.status'),
): RawBuilder<boolean> {
  const conditions = [sql<boolean>`task.client_id = ${filter.clientId}`];
  if (filter.taskId !== undefined) conditions.push(sql`task.id = ${filter.taskId}`);
  if (filter.taskName !== undefined) conditions.push(sql`task.task_name = ${filter.taskName}`);
  if (filter.status !== undefined) conditions.push(sql`${status} = ${filter.status}`);
  if (filter.created !== undefined) conditions.push(createdIn(filter.created));
  if (filter.search !== undefined) conditions.push(holds(filter.search, searchBy, status));
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`;
}

function createdIn({ day, from, to }: Interval): RawBuilder<boolean> {
  // One value, for which an index has the tasks in the order of the list.
  if (day !== undefined) return sql`task.created_day = ${day}::date`;
  return sql`task.created_at >= ${from}::timestamptz and task.created_at < ${to}::timestamptz`;
}

function holds(search: string, by: 'index' | 'row', status: RawBuilder<unknown>): RawBuilder<boolean> {
  const inText =
    by === 'index'
      ? sql<boolean>`task.search_text like ${containing(search)}`
      : sql<boolean>`strpos(task.search_text, ${search}) > 0`;
  const statuses = STATUSES.filter((name) => name.toLowerCase().includes(search));
  return statuses.length === 0 ? inText : sql`(${inText} or ${status} in (${sql.join(statuses)}))`;
}
