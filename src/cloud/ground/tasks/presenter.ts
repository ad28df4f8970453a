import { plainSeconds } from '../../../lib/timestamps.ts';
import type { Task } from './schema.ts';
import type { TaskRow } from './store.ts';

export function presentedTask(row: TaskRow): Task {
  return {
    id: row.id,
    task_type: row.task_type,
    state: row.state,
    detailed_state: null,
    created_on: plainSeconds(row.created_on),
    updated_on: row.updated_on && plainSeconds(row.updated_on),
    finished_on: row.finished_on && plainSeconds(row.finished_on),
    created_resources: row.created_resources,
    data: row.data,
    error: row.error,
    user_id: row.user_id,
    client_id: row.client_id,
    user_client_id: row.user_client_id,
    project_id: row.project_id,
    region_id: row.region_id,
    request_id: row.request_id,
    acknowledged_at: row.acknowledged_at && plainSeconds(row.acknowledged_at),
    acknowledged_by: row.acknowledged_by,
    job_id: null,
    schedule_id: null,
    lifecycle_policy_id: null,
  };
}
