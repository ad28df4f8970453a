import { afterTime, calendarTime } from '../../lib/calendar-time.ts';
import type { TaskFilter } from './list-store.ts';
import type { TaskListQuery } from './schema.ts';

/** What a list's query asks for. @throws InvalidError for a time that no calendar has */
export function taskFilter(query: TaskListQuery): TaskFilter {
  return {
    projectIds: query.project_id,
    regionIds: query.region_id,
    states: query.state,
    types: query.task_type === undefined ? undefined : [query.task_type],
    acknowledged: query.is_acknowledged,
    from: calendarTime('from_timestamp', query.from_timestamp),
    before: afterTime(calendarTime('to_timestamp', query.to_timestamp)),
    order: query.order_by ?? query.sorting ?? 'desc',
    limit: query.limit ?? 10,
    offset: query.offset ?? 0,
  };
}
