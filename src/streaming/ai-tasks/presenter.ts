import { isoMicros } from '../../lib/timestamps.ts';
import type { ListedTask } from './page.ts';
import type { AiTaskListQuery } from './schema.ts';
import type { AiTaskRead } from './service.ts';

/** Returns a task as lists show it, without its result. */
export function listedAiTask(row: ListedTask) {
  const { started_at, completed_at } = row;
  return {
    task_id: row.id,
    status: row.status,
    progress: row.progress,
    processing_time: {
      ...(started_at && { started_at: isoMicros(started_at) }),
      completed_at: completed_at && isoMicros(completed_at),
      total_time_sec: started_at && completed_at && (completed_at.getTime() - started_at.getTime()) / 1000,
    },
    task_data: row.task_data,
  };
}

export function presentedAiTask(task: AiTaskRead) {
  const { result, waitingFor } = task;
  return { ...listedAiTask(task), result, ...(waitingFor !== undefined && { waiting_for: waitingFor }) };
}

/** Returns the pointers of a page: queries such as `page=2`, which keep what else the request asked for, or null. */
export function pagePointers(query: AiTaskListQuery, count: number) {
  const { page = 1, limit = 10, ...filters } = query;
  const last = Math.ceil(count / limit);
  const at = (number: number) =>
    new URLSearchParams(
      Object.entries({ page: number, limit: query.limit, ...filters }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)] as [string, string]],
      ),
    ).toString();
  return {
    next: page < last ? at(page + 1) : null,
    previous: page > 1 && last > 0 ? at(Math.min(page - 1, last)) : null,
  };
}
