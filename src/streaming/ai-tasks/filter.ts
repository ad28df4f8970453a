import { type RawBuilder, sql } from 'kysely';
import type { TaskData } from '../../db/json-columns.ts';
import type { Interval } from '../../lib/iso-interval.ts';
import { containing } from '../../lib/texts.ts';
import { STATUSES, type Status } from './states.ts';

/** Which of a client's tasks to return. */
export interface AiTaskFilter {
  clientId: number;
  taskId?: string | undefined;
  taskName?: TaskData['task_name'] | undefined;
  status?: Status | undefined;
  created?: Interval | undefined;
  /** In folded form; see search-text.ts. */
  search?: string | undefined;
  /** Statuses that another filter covers. */
  otherThan?: Status[] | undefined;
}

/**
 * Splits a filter into disjoint ones whose `search` no longer covers the status. If the search is part of a
 * status, one filter selects all tasks with that status, which an index finds, and another one searches the
 * texts of the rest.
 */
export function separated(filter: AiTaskFilter): AiTaskFilter[] {
  const { search, ...others } = filter;
  if (search === undefined) return [filter];
  const named = STATUSES.filter((status) => status.toLowerCase().includes(search));
  if (filter.status !== undefined) return named.includes(filter.status) ? [others] : [filter];
  if (named.length === 0) return [filter];
  return [...named.map((status) => ({ ...others, status })), { ...filter, otherThan: named }];
}

/**
 * Returns the condition on a row `task` of ai_tasks; the status may come from elsewhere. `searchBy` decides
 * whether the trigram index answers a search (`index`) or each row is compared (`row`).
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
  if (filter.otherThan !== undefined) conditions.push(sql`${status} not in (${sql.join(filter.otherThan)})`);
  if (filter.created !== undefined) conditions.push(createdIn(filter.created));
  if (filter.search !== undefined) conditions.push(holds(filter.search, searchBy));
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`;
}

function createdIn({ day, from, to }: Interval): RawBuilder<boolean> {
  // With a single value, an index has the tasks in the order of the list.
  if (day !== undefined) return sql`task.created_day = ${day}::date`;
  return sql`task.created_at >= ${from}::timestamptz and task.created_at < ${to}::timestamptz`;
}

export function holds(search: string, by: 'index' | 'row'): RawBuilder<boolean> {
  return by === 'index'
    ? sql<boolean>`task.search_text like ${containing(search)}`
    : sql<boolean>`strpos(task.search_text, ${search}) > 0`;
}
