import { InvalidError } from '../../lib/errors.ts';
import type { TaskFilter } from './list-store.ts';
import type { TaskListQuery } from './schema.ts';

const SECOND = 1_000;

/** What a list's query asks for. @throws InvalidError for a time that no calendar has */
export function taskFilter(query: TaskListQuery): TaskFilter {
  return {
    projectIds: query.project_id,
    regionIds: query.region_id,
    states: query.state,
    types: query.task_type === undefined ? undefined : [query.task_type],
    acknowledged: query.is_acknowledged,
    from: moment('from_timestamp', query.from_timestamp),
    before: after(moment('to_timestamp', query.to_timestamp)),
    order: query.order_by ?? query.sorting ?? 'desc',
    limit: query.limit ?? 10,
    offset: query.offset ?? 0,
  };
}

/** Tasks show whole seconds, so a time without a fraction stands for all of its second. */
function after(date: Date | undefined): Date | undefined {
  return date && new Date(date.getTime() + (date.getTime() % SECOND === 0 ? SECOND : 1));
}

function moment(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const date = new Date(/([Zz]|[+-]\d{2}:?\d{2})$/.test(text.slice(19)) ? text : `${text}Z`);
  if (Number.isNaN(date.getTime())) {
    throw new InvalidError([{ field, message: 'There is no such date and time in the calendar.' }]);
  }
  return date;
}
